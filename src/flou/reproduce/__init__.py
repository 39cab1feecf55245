"""The figures and tables of the source documents, and the made-up data that they need: one file a subject."""
