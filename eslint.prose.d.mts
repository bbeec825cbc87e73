import type { ESLint } from 'eslint';

export const prose: ESLint.Plugin;
