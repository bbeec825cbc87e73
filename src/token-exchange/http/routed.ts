// Makes the controllers of one registration of the module: where its settings say, whatever versions the host gives its own routes.
import type { Type } from '@nestjs/common';
import { Controller, VERSION_NEUTRAL } from '@nestjs/common';

/** As classes of its own: decorators stay on a class, and a process may have several applications. */
export function routed(
  controllers: readonly Type<object>[],
  path: string,
  decorators: readonly ClassDecorator[] = [],
): Type<object>[] {
  return controllers.map((Base) => {
    class Routed extends Base {}
    Object.defineProperty(Routed, 'name', { value: Base.name });
    for (const decorate of [Controller({ path, version: VERSION_NEUTRAL }), ...decorators]) decorate(Routed);
    return Routed;
  });
}
