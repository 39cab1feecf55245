"""The look of the page: one style sheet, inside the page."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2733;--soft:#5c6873;--line:#dfe4e8;--tint:#f4f6f8;
  --bar:#b5cbde;--mark:#1f4e79;--wide:#c0562f}
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e5e9ed;--soft:#9aa7b3;--line:#2b333b;--tint:#1b2127;
  --bar:#34536f;--mark:#9cc9ee;--wide:#eb9a73}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;
  font-variant-numeric:tabular-nums}
main{max-width:50rem;margin:0 auto;padding:3rem 1.25rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:.1em 0 .2em;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0;overflow-wrap:anywhere}
p{margin:.4em 0}
.soft{color:var(--soft)}
.small{font-size:.875rem}
.kicker{font-size:.8rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft)}
.cost{border-left:4px solid var(--mark);background:var(--tint);padding:.8rem 1.1rem;margin:1.6rem 0 2rem;
  border-radius:0 6px 6px 0}
.cost p:first-child{font-weight:600}
section{border-top:1px solid var(--line);padding:1.5rem 0;break-inside:avoid}
.head{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.2rem 1rem}
.big{font-size:2rem;font-weight:600;line-height:1.25;letter-spacing:-.01em;overflow-wrap:anywhere}
figure{margin:.6rem 0;overflow-x:auto}
svg{display:block;width:100%;height:auto}
svg text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink);font-variant-numeric:tabular-nums}
svg .soft{fill:var(--soft)}
svg .name{font-weight:600}
svg .fine{font-size:10px;fill:var(--ink)}
svg.narrow{display:none;max-width:26rem}
.bar{fill:var(--bar)}
.grid{stroke:var(--line);stroke-width:1}
.data{stroke:var(--mark);stroke-width:2.5}
.population{stroke:var(--wide);stroke-width:1.3}
.rule{stroke:var(--soft);stroke-width:1}
.cell{fill:var(--mark)}
.cell.below{fill:var(--wide)}
.dot{fill:var(--mark)}
.box{fill:var(--bar);stroke:var(--mark);stroke-width:1.2}
.edge{fill:none;stroke:var(--mark);stroke-width:1.4}
.middle{fill:none;stroke:var(--mark);stroke-width:3}
.curve{fill:none;stroke:var(--mark);stroke-width:1.8}
.band{fill:var(--mark);fill-opacity:.3;stroke:none}
.band.population{fill:var(--wide);fill-opacity:.2}
.key{display:flex;flex-wrap:wrap;gap:.1rem 1.4rem;font-size:.875rem;color:var(--soft);padding:0;margin:.3rem 0;
  list-style:none}
.key i{display:inline-block;width:1.5rem;vertical-align:middle;margin-right:.45rem;border-top:3px solid var(--mark)}
.key i.population{border-top:1.5px solid var(--wide)}
.key i.band{border-top:.7rem solid var(--mark);opacity:.4}
.key i.band.population{border-top:.7rem solid var(--wide);opacity:.3}
.key i.cell{border-top:.7rem solid var(--bar)}
@media (max-width:34rem){svg.wide{display:none}svg.narrow{display:block}main{padding:1.5rem .8rem 3rem}}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{padding:.32rem .9rem .32rem 0;text-align:right;vertical-align:baseline;border-bottom:1px solid var(--line)}
th{font-weight:500}
thead th{color:var(--soft);font-weight:400;font-size:.85rem}
th:first-child{text-align:left}
th:last-child,td:last-child{padding-right:0}
td:last-child{white-space:nowrap}
tfoot td,tfoot th{font-weight:600;border-bottom:0}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--soft);font-size:.875rem}
summary:focus-visible{outline:2px solid var(--mark);outline-offset:2px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--tint);padding:.9rem;border-radius:6px;font-size:.78rem;
  line-height:1.45;margin:.5rem 0}
code{overflow-wrap:anywhere;font-size:.85em}
@media print{
  :root{--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--tint:#fff;--bar:#c8d6e2;--mark:#1f4e79;--wide:#c0562f}
  main{max-width:none;padding:0}
  body{font-size:11pt}
  .cost{border:1px solid var(--line);border-left:4px solid var(--mark)}
  *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
