// Decorations that wait for their library: done once, in the order of the classes, with what a decorator is given.
import 'reflect-metadata';
import { LateDecorators } from '../../../../../src/workspace/api/body/api-documentation.js';

interface Library {
  readonly note: (text: string) => MethodDecorator & PropertyDecorator & ClassDecorator;
}

describe('late decorators', () => {
  const noted: unknown[][] = [];
  const library: Library = {
    note:
      (text: string) =>
      (...place: unknown[]) =>
        void noted.push([text, ...place]),
  };
  const late = new LateDecorators(() => Promise.resolve(library));
  const Note = (text: string) => late.decorator(({ note }) => note(text));

  @Note('class')
  class First {
    @Note('property')
    readonly member!: string;

    @Note('method')
    method(): void {
      // Only its decoration counts.
    }
  }

  it('wait until the library is there, and are then done in their order', async () => {
    expect(noted).toEqual([]);
    await late.loaded();
    expect(noted.map(([text, target, key]) => [text, target, key])).toEqual([
      ['property', First.prototype, 'member'],
      ['method', First.prototype, 'method'],
      ['class', First, undefined],
    ]);
    expect(noted[1]?.[3]).toMatchObject(Object.getOwnPropertyDescriptor(First.prototype, 'method') ?? {});
  });

  it('are done once; those of later classes wait for the next time', async () => {
    noted.splice(0);
    @Note('later')
    class Second {}
    await late.loaded();
    await late.loaded();
    expect(noted.map(([text, target]) => [text, target])).toEqual([['later', Second]]);
  });
});
