import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { paidFields } from '../../graph/paid-rule.ts';
import { publicSchema } from '../../graph/supergraph.ts';
import { sdlOf } from '../../http/sdl.ts';

/** What a client that was written for the graph before has to be changed for. */
export interface BreakingChange {
  /** What the changelog has to name: a type, field, argument or value as a path, `Book.rows.first`. */
  readonly coordinate: string;
  /** The change in a sentence. */
  readonly message: string;
}

/** Compares two supergraphs by the schemas that clients see of them, `@paid` included. */
export async function breakingChanges(before: string, after: string): Promise<BreakingChange[]> {
  const changes = await diff(shownBy(before), shownBy(after));
  return changes.filter(isBreaking).map(({ path, type, message }) => ({
    coordinate: (path ?? String(type)).replace(PAID, ''),
    message,
  }));
}

/** A price changes no type, and yet whoever calls pays another: graphql-inspector holds it for dangerous at the most. */
const PAID = /\.@paid\b.*$/;

function isBreaking({ criticality, path }: Change): boolean {
  return criticality.level === CriticalityLevel.Breaking || PAID.test(path ?? '');
}

function shownBy(supergraph: string): GraphQLSchema {
  const schema = publicSchema(supergraph);
  return buildSchema(sdlOf({ schema, paid: paidFields(schema) }));
}

/** Those that no line names, in backticks, which the changelog has got since. */
export function unnoted(
  changes: readonly BreakingChange[],
  changelog: { readonly before: string; readonly after: string },
): BreakingChange[] {
  const old = new Set(changelog.before.split('\n'));
  const added = changelog.after.split('\n').filter(line => !old.has(line));
  // Whole, and as code: a sentence on a book or on `Book.rowsByDay` says nothing of `Book` or `Book.rows`.
  const named = new Set(added.flatMap(line => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code)));
  return changes.filter(({ coordinate }) => !named.has(coordinate));
}
