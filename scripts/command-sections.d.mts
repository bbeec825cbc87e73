// Types of command-sections.mjs, for the test that holds docs/commands.md against it.
import type { Command } from 'commander';

export const START: string;
export function leavesOf(command: Command): { readonly name: string; readonly command: Command }[];
export function examplesOf(command: Command): string;
export function commandReference(program: Command): string;
