"""Reasons why a move is better than another in Love Formula. Numbers (R1..) are RULES.md's.

The features (`action_features`) hold what the seat to act can know: nobody's hidden cards.
"""

from linkzoo.core.guide import FeatureReason

_CHOICES = ("select", "draft")  # decisions about an own card
_SOURCES = ("draft", "gain")  # decisions that bring a card
REASONS = (
    *(
        FeatureReason(
            "points",
            1,
            "The mover's points change by {better} with it, and by {played} with the move played "
            "(R26).",
            given=(change,),
        )
        for change in ("place", "window")
    ),
    FeatureReason(
        "stuck",
        -1,
        "The card played has no position now: no couple takes it, and its free slot is full (R12).",
        given=("select", "preparation"),
    ),
    *(
        FeatureReason(
            "completes3",
            1,
            "The card can complete a couple of the mover's field with three requirements (R26).",
            given=(choice,),
        )
        for choice in _CHOICES
    ),
    *(
        FeatureReason(
            "completes2",
            1,
            "The card can complete a couple of the mover's field with two requirements (R26).",
            given=(choice,),
        )
        for choice in _CHOICES
    ),
    *(
        FeatureReason(
            "advances",
            1,
            "The card fits a couple of the mover's field that then lacks still more (R10).",
            given=(choice,),
        )
        for choice in _CHOICES
    ),
    *(
        FeatureReason(
            "ready3",
            1,
            "After it, all cards are at hand for {better:more couple} with three requirements.",
            given=(source,),
            minimum=1,
        )
        for source in _SOURCES
    ),
    *(
        FeatureReason(
            "ready2",
            1,
            "After it, all cards are at hand for {better:more couple} with two requirements.",
            given=(source,),
            minimum=1,
        )
        for source in _SOURCES
    ),
    *(
        FeatureReason(
            "near3",
            1,
            "After it, only one card is missing for {better:more couple} with three requirements.",
            given=(source,),
            minimum=1,
        )
        for source in _SOURCES
    ),
    *(
        FeatureReason(
            "near2",
            1,
            "After it, only one card is missing for {better:more couple} with two requirements.",
            given=(source,),
            minimum=1,
        )
        for source in _SOURCES
    ),
    *(
        FeatureReason(
            "wanted",
            1,
            "The mover holds {better:couple} with a need for the card, and {played} with a need "
            "for the card played.",
            given=(choice, "preparation"),
        )
        for choice in _CHOICES
    ),
    *(
        FeatureReason(
            "met",
            1,
            "The mover holds {better:card} that this couple requires.",
            given=(choice,),
            minimum=1,
        )
        for choice in _CHOICES
    ),
    FeatureReason(
        "next_needs",
        1,
        "The next player, who gets the rest of the pack, has {better:couple} in the field with a "
        "need for this card (R5).",
        given=("draft",),
        minimum=1,
    ),
    FeatureReason(
        "pack",
        1,
        "The pack holds {better:card} that go with it; with the card played {played}.",
        given=("draft",),
    ),
    FeatureReason(
        "priority",
        1,
        "Its priority is {better}, and higher ones come first; the card played has {played} (R8).",
        2,
        given=("select",),
    ),
    FeatureReason(
        "target_met",
        1,
        "It is aimed at a couple with {better:preparation} attached; the move played at one with "
        "{played} (R13).",
        given=("target", "obstacle"),
    ),
    FeatureReason(
        "target_first",
        1,
        "It is aimed at the opponent with the most points; the move played isn't (R13).",
        given=("target", "obstacle"),
    ),
)
