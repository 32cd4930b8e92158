"""Love Links: bracelets of links whose keys fit locks, for two to four (RULES.md)."""

from linkzoo.core.contract import Drawing, Facts, Notation, Observation, Rules
from linkzoo.core.game import Game
from linkzoo.games import COMPATIBLE_VERSIONS
from linkzoo.games.love_links import (
    action_features,
    components,
    guide,
    notation,
    observation,
    options,
    positions,
    rules,
    state,
    svg,
    text,
    validation,
)

GAME = Game(
    name=positions.HEADER.name,
    version=positions.HEADER.version,
    compatible_versions=COMPATIBLE_VERSIONS,
    title="Love Links",
    players=positions.HEADER.players,
    num_actions=components.NUM_ACTIONS,
    fields=state.FIELDS,
    options=options.Options,
    rules=Rules(
        new_game=rules.new_game,
        legal_actions=rules.legal_actions,
        apply=rules.apply,
        certain=rules.apply_certain,
        scores=rules.scores,
        determinize=rules.determinize,
        validate=validation.validate,
    ),
    observation=Observation(
        spec=observation.SPEC,
        observe=observation.observe,
        action_spec=action_features.ACTION_SPEC,
        observe_action=action_features.action_features,
    ),
    notation=Notation(
        action_to_text=notation.action_to_text,
        text_to_action=notation.text_to_action,
        action_parts=notation.action_parts,
        to_dict=positions.to_dict,
        from_dict=positions.from_dict,
        unordered=("hands", "bracelets"),
    ),
    drawing=Drawing(text=text.draw_text, svg=svg.draw_svg, tall=svg.draw_tall),
    facts=Facts(
        typical_length=89,
        max_length=components.TOTAL,
        score_scale=100,
        sides=state.sides,
        uct_c=0.7,
    ),
    guide_class=guide.LoveLinksGuide,
)
