"""Calls that checkers must refuse, one a line: every line with the word WRONG, and no other. Never run."""

import flou
from flou.arrays import Bounds, Values

text: Values = "18, 30"  # WRONG: a text is a value
raw: Values = b"18, 30"  # WRONG: so are bytes
mapping: Values = {"age": [18, 30]}  # WRONG: a mapping is a table
bag: Values = {18, 30}  # WRONG: a set has no order
number: Values = 18  # WRONG: one number is no column
stream: Values = iter([18, 30])  # WRONG: rows are read more than once
one: Bounds = (0,)  # WRONG: bounds are two
three: Bounds = (0, 1, 2)  # WRONG: and not three
words: Bounds = ("low", "high")  # WRONG: and numbers
top: Bounds = 120  # WRONG: the lower one is needed too

flou.mean([18, 30], (0, 120), epsilon=1)  # WRONG: bounds are named
flou.mean([18, 30], bounds=(0, 120), epsilon="1")  # WRONG: a text is no price
flou.mean([18, 30], bounds=(0, 120), eps=1)  # WRONG: its name is epsilon
flou.mean([18, 30], bounds=(0, 120), epsilon=1, relation="swap")  # WRONG: there are two relations
flou.quantiles([18, 30], ["median"], bounds=(0, 120), epsilon=1)  # WRONG: probabilities are numbers
flou.median([18, 30], bounds=(0, 120))  # WRONG: epsilon is needed
flou.mean("18, 30", bounds=(0, 120), epsilon=1)  # WRONG: a text is no column
flou.mean([18, 30], bounds=120, epsilon=1)  # WRONG: bounds are two
flou.mode([18, 30], categories="yes", domain=3, epsilon=1)  # WRONG: a number is no domain

table = flou.open({"age": [18, 30]}, schema={"age": flou.Interval(0, 120)}, budget=3)
flou.open({"age": [18, 30]})  # WRONG: a schema is needed
table.mean("age", 0.5)  # WRONG: the price is named
table.mean(3, epsilon=0.5)  # WRONG: columns have names
table.average("age", epsilon=0.5)  # WRONG: there is no such statistic
table.group_by(["age"])  # WRONG: one column
table.where("age > 3")  # WRONG: a condition is made of columns
print(table.count(epsilon=1).price)  # WRONG: its cost is called cost

flou.Interval(0)  # WRONG: an interval has two ends
flou.Categories("care")  # WRONG: a text is no list
flou.mechanisms.Laplace(1, 0.5)  # WRONG: so are sensitivity and epsilon

flou.local.GRR("yes", epsilon=1)  # WRONG: a text is no list of answers
flou.local.GRR(16)  # WRONG: epsilon is needed
flou.local.GRR(16, epsilon=1).randomise("yes")  # WRONG: one answer is no column of answers
flou.local.mean_of(100, epsilon=1)  # WRONG: one bound
flou.joint.simulate([{}, {}, {}])  # WRONG: a formula or a program is needed
flou.joint.simulate([{}, {}, {}], formula="y ~ x", covariance="HC9")  # WRONG: no such covariance
flou.joint.LinearRegression()  # WRONG: a formula is needed
