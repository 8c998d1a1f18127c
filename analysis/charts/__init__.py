"""Charts: one module each, a question, the rows that answer it, and the figure as Plotly JSON."""
