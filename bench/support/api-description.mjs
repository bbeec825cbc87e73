// Reads what the service itself tells of its API.

/** Operations of the description: those with a body, with its schema, and those that list, with the parameters they know. */
export function operationsOf({ paths, components }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters }]) => ({
      method: method.toUpperCase(),
      path,
      schema: requestBody && schemaNamed(components, requestBody.content['application/json'].schema.$ref),
      queries: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  );
}

function schemaNamed({ schemas }, reference) {
  return schemas[reference.split('/').at(-1)];
}
