def draw_text(state, seat=None): return ""
def draw_svg(state, seat=None): return ""
