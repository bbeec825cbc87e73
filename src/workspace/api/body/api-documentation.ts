// What controllers and bodies say of themselves for the OpenAPI description, without loading the library that makes it.
import type * as Swagger from '@nestjs/swagger';
import { LateDecorators } from './late-decorators.js';

/** The library, @nestjs/swagger. */
export type OpenApi = typeof Swagger;

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

/** As of @nestjs/swagger, for the parameters of a route. */
export function ApiQuery(options: Swagger.ApiQueryOptions): MethodDecorator {
  return Documented((openApi) => openApi.ApiQuery(options));
}
