// Decorators of a library that the start of the process can do without: remembered until the library is loaded.
import type { applyDecorators } from '@nestjs/common';

type Decorator = ReturnType<typeof applyDecorators>;
type AnyDecorator = ClassDecorator | MethodDecorator | PropertyDecorator;

/**
 * A class is decorated when its file is loaded, so that a library of decorators would be loaded at each start, whether
 * or not the run ever needs what they write down. Here a decoration waits for `applyTo`; classes that are declared later
 * wait for the next one.
 */
export class DeferredDecorators<Library> {
  private readonly waiting: ((library: Library) => void)[] = [];

  /** Stands for the decorator that `choose` makes from the library. */
  decorator(choose: (library: Library) => AnyDecorator): Decorator {
    return (target: object, key?: string | symbol, descriptor?: unknown) => {
      this.waiting.push((library) => {
        const decorate = choose(library) as (...place: unknown[]) => void;
        decorate(target, key, descriptor);
      });
    };
  }

  /** Decorates everything that waits, in the order in which the classes were declared. */
  applyTo(library: Library): void {
    for (const decorate of this.waiting.splice(0)) decorate(library);
  }
}
