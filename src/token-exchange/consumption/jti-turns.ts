// Sorts out requests that want the same ids: those that share none ask together, the others learn what became of those.

/** A request that waits for its ids. */
export interface Turn {
  /** Its ids, each different from the others. */
  readonly ids: readonly string[];
  /** Whether it has given way before; its ids were unused then. */
  readonly hasWaited: boolean;
}

export interface Turns<Asker> {
  /** They share no id: one statement can ask for all of them. */
  readonly asking: readonly Asker[];
  /** They want an id of one that asks, which may be refused itself and leave it unused. */
  readonly waiting: readonly Asker[];
}

/**
 * Lets requests ask in the order of their arrival, so that each is judged as if they had come one after the other.
 *
 * A request that is sure to leave its ids used, by itself or by others before it, makes losers of those that want one of them
 * after it: losers neither ask nor keep others from their own ids. Of one id that is always sure; of several when they have
 * been looked up already. After any other request nobody knows yet: who wants one of its ids waits, and so does who wants
 * one of theirs. So nobody waits twice, but for ids that others use in the meantime.
 */
export function takeTurns<Asker extends Turn>(arrived: readonly Asker[]): Turns<Asker> {
  const [asking, waiting]: [Asker[], Asker[]] = [[], []];
  const [usedAfterwards, unknownAfterwards] = [new Set<string>(), new Set<string>()];
  for (const asker of [...arrived.filter(hasWaited), ...arrived.filter((other) => !hasWaited(other))]) {
    if (wantsOneOf(asker, usedAfterwards)) continue;
    const mustWait = wantsOneOf(asker, unknownAfterwards);
    (mustWait ? waiting : asking).push(asker);
    const isSure = !mustWait && (asker.hasWaited || asker.ids.length === 1);
    for (const id of asker.ids) (isSure ? usedAfterwards : unknownAfterwards).add(id);
  }
  return { asking, waiting };
}

/** Whether a request wants an id of a set. */
export function wantsOneOf({ ids }: Turn, wanted: ReadonlySet<string>): boolean {
  return ids.some((id) => wanted.has(id));
}

function hasWaited(asker: Turn): boolean {
  return asker.hasWaited;
}
