"""From a training job to what people read: a summary dict, then HTML, Markdown or JSON."""

from bayesieve.report.html import render_html
from bayesieve.report.markdown import render_markdown
from bayesieve.report.rows import Rows
from bayesieve.report.study import Study, run_study
from bayesieve.report.summary import summarise

__all__ = ["Rows", "Study", "render_html", "render_markdown", "run_study", "summarise"]
