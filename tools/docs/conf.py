# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for `make docs`. tools/docs/pages.py has made the pages that it reads."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/docs"))
HEADER = (ROOT / "include/corymb/version.hpp").read_text()

project = "corymb"
author = "the authors of corymb"
release = ".".join(re.findall(r"define CORYMB_VERSION_\w+ (\d+)", HEADER))
html_title = f"corymb {release}"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["corymb.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
# Names of the reference in the column on the right: without their scope, which is on the page.
toc_object_entries_show_parents = "hide"

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "index"
myst_heading_anchors = 6
# Comments write code in single backquotes.
default_role = "code"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

breathe_projects = {"corymb": str(ROOT / "build/docs-work/xml")}
breathe_default_project = "corymb"
breathe_domain_by_extension = {"hpp": "cpp", "h": "c"}
breathe_show_include = False
# Each header declares the namespace; a page may begin with headings of a lower level.
suppress_warnings = ["duplicate_declaration.cpp", "myst.header"]

autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True


def setup(app: object) -> None:
    import python_topics
    from sphinx.errors import ConfigError

    import corymb

    missing = python_topics.missing(corymb.__all__)
    if missing:
        raise ConfigError(f"tools/docs/python_topics.py lacks {', '.join(sorted(missing))}")
