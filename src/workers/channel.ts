// Questions and answers between the primary process and one of its workers.

/** What one side may be asked, by name: each takes one value, if any, and answers. */
type Verbs<T> = { [Verb in keyof T]: (value: never) => unknown };

/** How messages go to the other process, and come from there. */
export interface Port {
  send(message: object): void;
  /** @param isEnd told when no more will come */
  receive(onMessage: (message: unknown) => void, onEnd: () => void): void;
}

type Message =
  | { readonly id: number; readonly verb: string; readonly value: unknown }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: string };

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/** The other process is gone, or could not answer. */
export class ChannelError extends Error {}

/** One end of it: `Ours` is what we are asked, `Theirs` what we may ask. */
export class Channel<Ours extends Verbs<Ours>, Theirs extends Verbs<Theirs>> {
  private readonly pending = new Map<number, Pending>();
  private asked = 0;
  private hasEnded = false;

  constructor(
    private readonly port: Port,
    private readonly ours: Ours,
  ) {
    port.receive(
      (message) => this.take(message as Message),
      () => this.end(),
    );
  }

  /** @throws ChannelError */
  ask<Verb extends keyof Theirs & string>(
    verb: Verb,
    ...[value]: Parameters<Theirs[Verb]>
  ): Promise<Awaited<ReturnType<Theirs[Verb]>>> {
    return new Promise((resolve, reject) => {
      if (this.hasEnded) return reject(new ChannelError('the other process is gone'));
      const id = (this.asked += 1);
      this.pending.set(id, { resolve, reject });
      this.port.send({ id, verb, value });
    });
  }

  private take(message: Message): void {
    if ('verb' in message) void this.answer(message);
    else this.settle(message);
  }

  private async answer({ id, verb, value }: Extract<Message, { verb: string }>): Promise<void> {
    try {
      this.reply({ id, answer: await this.ours[verb as keyof Ours](value as never) });
    } catch (error) {
      this.reply({ id, failure: String(error) });
    }
  }

  private reply(message: Message): void {
    if (!this.hasEnded) this.port.send(message);
  }

  private settle(message: Exclude<Message, { verb: string }>): void {
    const pending = this.pending.get(message.id);
    this.pending.delete(message.id);
    if ('failure' in message) pending?.reject(new ChannelError(message.failure));
    else pending?.resolve(message.answer as never);
  }

  private end(): void {
    this.hasEnded = true;
    for (const { reject } of this.pending.values()) reject(new ChannelError('the other process is gone'));
    this.pending.clear();
  }
}
