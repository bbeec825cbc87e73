// Reads what the service itself tells of its API.

/** Operations of the description: those with a body, with its schema, and those that list, with the parameters they know. */
export function operationsOf({ paths, components }) {
  const own = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/'));
  return own.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters }]) => ({
      method: method.toUpperCase(),
      path,
      schema: requestBody && schemaNamed(components, requestBody.content['application/json'].schema.$ref),
      queries: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  );
}

/** Of several that a body may be the first: they differ in nothing that is hostile. */
function schemaNamed(components, reference) {
  const schema = components.schemas[reference.split('/').at(-1)];
  return schema.oneOf ? schemaNamed(components, schema.oneOf[0].$ref) : schema;
}
