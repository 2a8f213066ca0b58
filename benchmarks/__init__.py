"""What Windrow is measured by: one module a question, each with a `main`; the others hold their cases and reports."""
