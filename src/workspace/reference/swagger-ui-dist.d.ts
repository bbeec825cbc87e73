// Where the files of Swagger UI lie: the package says it in a file without types.
declare module 'swagger-ui-dist/absolute-path.js' {
  const absolutePath: () => string;
  export = absolutePath;
}
