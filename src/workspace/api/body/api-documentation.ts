// What controllers and bodies say of themselves for the OpenAPI description, without loading the library that makes it.
import type * as Swagger from '@nestjs/swagger';
import type { applyDecorators } from '@nestjs/common';

/** Decorators of a library that the start of the process can do without: remembered until the library is loaded. */
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

/** The library, @nestjs/swagger. */
export type OpenApi = typeof Swagger;

/** The JSON Schema of a parameter. */
type ParameterSchema = Extract<Swagger.ApiQueryOptions, { schema: unknown }>['schema'];

/**
 * @nestjs/swagger is hundreds of files, for a description that most processes are never asked for. Loading it documents
 * all classes.
 */
export const documentation = new LateDecorators<OpenApi>(() => import('@nestjs/swagger'));

/** Documents a class, a method or a property by decorators of @nestjs/swagger. */
export function Documented(
  choose: (library: OpenApi) => ClassDecorator | MethodDecorator | PropertyDecorator,
) {
  return documentation.decorator(choose);
}

/** As of @nestjs/swagger, for the members of bodies and answers. */
export function ApiProperty(options?: Swagger.ApiPropertyOptions): PropertyDecorator {
  return Documented((openApi) => openApi.ApiProperty(options));
}

/** Documents a parameter of the query, which may be left out. */
export function ApiQuery(name: string, description: string, schema: ParameterSchema): MethodDecorator {
  return Documented((openApi) => openApi.ApiQuery({ name, description, required: false, schema }));
}
