// Counts how often the workers of each seat have died lately.

const WITHIN_MS = 60_000;

export class Deaths {
  private readonly bySeat = new Map<number, number[]>();

  /** @returns how many there were within a minute, this one included */
  count(seat: number, nowMs: number): number {
    const recent = (this.bySeat.get(seat) ?? []).filter((atMs) => nowMs - atMs < WITHIN_MS);
    recent.push(nowMs);
    this.bySeat.set(seat, recent);
    return recent.length;
  }
}
