"""Just enough SVG for charts: text, lines and boxes on a light ground, one string at the end."""

from xml.sax.saxutils import escape, quoteattr

INK = "#222222"
MUTED = "#666666"
GRID = "#dddddd"


class Drawing:
    def __init__(self, width, height, title):
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" '
            f'role="img" aria-label={quoteattr(title)}>',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]
        self.text(24, 34, title, size=19, weight="bold")

    def text(self, x, y, words, size=13, anchor="start", color=INK, weight="normal", turn=0):
        """`words` with its base line at y; turned by `turn` degrees about its anchor."""
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" '
                           f'font-weight="{weight}" text-anchor="{anchor}"{turned}>{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, color=GRID, width=1.0, dash=""):
        self.path([(x1, y1), (x2, y2)], color, width, dash)

    def path(self, points, color, width=2.0, dash=""):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(f'<polyline points="{at}" fill="none" stroke="{color}" '
                           f'stroke-width="{width}" stroke-linejoin="round"{dashed}/>')

    def dot(self, x, y, color):
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>')

    def box(self, x, y, width, height, color):
        self._parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                           f'height="{height:.1f}" fill="{color}"/>')

    def __str__(self):
        return "\n".join(self._parts + ["</svg>"]) + "\n"
