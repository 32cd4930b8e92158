"""Linkage, by Ethan Larson: dominoes of four colours, More against Fewer groups (RULES.md)."""

from linkzoo.core.contract import Drawing, Facts, Notation, Observation, Rules
from linkzoo.core.game import Game
from linkzoo.core.solver import ExactSolver, SideSolver
from linkzoo.games import COMPATIBLE_VERSIONS
from linkzoo.games.linkage import (
    components,
    guide,
    notation,
    observation,
    options,
    positions,
    rules,
    solver,
    state,
    svg,
    symmetry,
    text,
    validation,
)

GAME = Game(
    name=positions.HEADER.name,
    version=positions.HEADER.version,
    compatible_versions=COMPATIBLE_VERSIONS,
    title="Linkage",
    players=positions.HEADER.players,
    num_actions=components.NUM_ACTIONS,
    fields=state.FIELDS,
    options=options.Options,
    editions=options.EDITIONS,
    rules=Rules(
        new_game=rules.new_game,
        legal_actions=rules.legal_actions,
        apply=rules.apply,
        scores=rules.scores,
        validate=validation.validate,
    ),
    observation=Observation(
        spec=observation.SPEC,
        observe=observation.observe,
        action_cells=components.ACTION_CELLS,
        symmetries=symmetry.symmetries,
    ),
    notation=Notation(
        action_to_text=notation.action_to_text,
        text_to_action=notation.text_to_action,
        action_parts=notation.action_parts,
        to_dict=positions.to_dict,
        from_dict=positions.from_dict,
    ),
    drawing=Drawing(text=text.draw_text, svg=svg.draw_svg, page=svg.draw_page, tall=svg.draw_tall),
    facts=Facts(
        typical_length=21,
        max_length=components.MAX_LENGTH,
        chance=False,
        score_scale=25,
        seat_names=("More", "Fewer"),
        role_options=("free_hole",),
        balanced_options={"threshold": 13},  # at the printed 12, More nearly always wins
        summary="Lay dominoes of four colours: one player wants many groups, the other few.",
        minutes=10,
        uct_c=0.35,
    ),
    guide_class=guide.LinkageGuide,
    solver=ExactSolver(
        make=solver.Solver,
        side_by_side=SideSolver(solver.memory, solver.solve, solver.finish),
    ),
)
