// Decorators of a library that the start of the process can do without: remembered until the library is loaded.
import type { applyDecorators } from '@nestjs/common';

type Decorator = ReturnType<typeof applyDecorators>;
type AnyDecorator = ClassDecorator | MethodDecorator | PropertyDecorator;

/**
 * A class is decorated when its file is loaded, so that a library of decorators would be loaded at each start, whether
 * or not the run ever needs what they write down. Here a decoration waits until the library is asked for; classes that are
 * declared later wait for the next time.
 */
export class LateDecorators<Library> {
  private readonly waiting: ((library: Library) => void)[] = [];
  private library: Library | undefined;

  /** @param load imports the library */
  constructor(private readonly load: () => Promise<Library>) {}

  /** Stands for the decorator that `choose` makes from the library. */
  decorator(choose: (library: Library) => AnyDecorator): Decorator {
    return (target: object, key?: string | symbol, descriptor?: unknown) => {
      this.waiting.push((library) => {
        const decorate = choose(library) as (...target: unknown[]) => void;
        decorate(target, key, descriptor);
      });
    };
  }

  /** The library, after everything that waited is decorated with it, in the order in which the classes were declared. */
  async loaded(): Promise<Library> {
    const library = this.library ?? (await this.load());
    this.library = library;
    for (const decorate of this.waiting.splice(0)) decorate(library);
    return library;
  }
}
