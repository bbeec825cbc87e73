import type { ESLint } from 'eslint';

export const imports: ESLint.Plugin;
