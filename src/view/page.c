// The files of the page, as tools/build-viewer made them; empty where it could not.
#include "view/internal.h"

#define FILE_DATA(name) extern const uint8_t view_page_##name[], view_page_##name##_end[];
FILE_DATA(html)
FILE_DATA(js)
FILE_DATA(css)

static const struct {
  const char *path, *type;
  const uint8_t *data, *end;
} files[] = {
    {"/", "text/html; charset=utf-8", view_page_html, view_page_html_end},
    {"/index.html", "text/html; charset=utf-8", view_page_html, view_page_html_end},
    {"/app.js", "text/javascript; charset=utf-8", view_page_js, view_page_js_end},
    {"/app.css", "text/css; charset=utf-8", view_page_css, view_page_css_end},
};

bool view_page_is_there(void) { return files[2].end > files[2].data; }

const ViewFile *view_page_file(const char *path) {
  static _Thread_local ViewFile found;
  for (size_t i = 0; i < ARRAY_LEN(files); i++) {
    if (strcmp(files[i].path, path) != 0) continue;
    found = (ViewFile){files[i].path, files[i].type, files[i].data,
                       (size_t)(files[i].end - files[i].data)};
    return &found;
  }
  return NULL;
}
