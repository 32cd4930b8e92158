// An unfinished move: a set of named parts, chosen in any order until a single move remains.

export class Selection {
  constructor(moves) {
    this.moves = moves;
    this.chosen = [];
  }

  /** The moves with all these parts. */
  with(parts, moves = this.moves) {
    return moves.filter((move) => {
      const left = [...move.parts];
      return parts.every((part) => {
        const place = left.indexOf(part);
        if (place >= 0) left.splice(place, 1);
        return place >= 0;
      });
    });
  }

  open(moves) {
    return this.with(this.chosen, moves);
  }

  /** The only remaining move; undefined while there are several. */
  get ready() {
    const open = this.chosen.length ? this.open() : [];
    return open.length === 1 ? open[0] : undefined;
  }

  /** The parts to choose from: first parts at first, then parts that distinguish moves; at the end
   * the alternatives to the last part. */
  next() {
    if (!this.chosen.length) return new Set(this.moves.map(({ parts }) => parts[0]));
    const kept = this.ready ? this.chosen.slice(0, -1) : this.chosen;
    if (!kept.length) return new Set(this.moves.map(({ parts }) => parts[0]));
    const open = this.with(kept);
    const parts = new Set(open.flatMap((move) => move.parts));
    return new Set(
      [...parts].filter((part) => {
        const left = this.with([...kept, part]).length;
        return left > 0 && left < open.length;
      }),
    );
  }

  can(part) {
    return this.moves.some(({ parts }) => parts.includes(part));
  }

  /** Adds a part and drops incompatible parts; takes back a part that can't be chosen twice. */
  choose(part) {
    const [more] = this.with([...this.chosen, part]);
    if (more) this.chosen.push(part);
    else if (this.chosen.includes(part)) this.chosen = this.chosen.filter((one) => one !== part);
    else this.chosen = this.chosen.reduce((kept, one) => (this.with([...kept, one]).length ? [...kept, one] : kept), [part]);
  }
}
