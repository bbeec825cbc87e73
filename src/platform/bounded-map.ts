// A map of a bounded size: what comes from outside must not fill the memory.

/** When full it forgets the tenth that was set first: one pass over a full map must serve many new keys. */
export class BoundedMap<Value> extends Map<string, Value> {
  constructor(private readonly maxKeys: number) {
    super();
  }

  override set(key: string, value: Value): this {
    // Deleted first: a map keeps the place of a key that is set again.
    this.delete(key);
    if (this.size >= this.maxKeys)
      for (const oldest of [...this.keys()].slice(0, Math.ceil(this.maxKeys / 10))) this.delete(oldest);
    return super.set(key, value);
  }
}
