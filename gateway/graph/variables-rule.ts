import { type DocumentNode, getOperationAST, Kind } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';

/** Checks the size of a request's variables before they are looked up or coerced. */
export type VariablesVerdict =
  | { readonly kind: 'within' }
  | { readonly kind: 'poisoned'; readonly name: string }
  | { readonly kind: 'exceeded'; readonly limit: keyof typeof most; readonly max: number };

const most = {
  variables_depth: limits.graphql_variables_depth_max,
  variables_values: limits.graphql_variables_values_max,
  variables_chars: limits.graphql_variables_chars_max,
} as const;

const exceeded = (limit: keyof typeof most): VariablesVerdict => ({ kind: 'exceeded', limit, max: most[limit] });

/**
 * Whether variables are within the limits. JSON.parse accepts lists that are nested a hundred thousand deep, and recursive code (coercion,
 * canonical JSON) would exhaust the stack, so this check goes level by level. `long`: the field takes long texts (a chat, an output).
 */
export function judgeVariables(variables: Readonly<Record<string, unknown>>, long: boolean): VariablesVerdict {
  let level: unknown[] = [variables];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most.variables_depth) return exceeded('variables_depth');
    values += level.length;
    if (values > most.variables_values) return exceeded('variables_values');
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string' && !long && value.length > most.variables_chars) return exceeded('variables_chars');
      if (typeof value !== 'object' || value === null) continue;
      // A member with this name is harmless by itself, but a later assignment could change the prototype.
      if (Object.hasOwn(value, '__proto__')) return { kind: 'poisoned', name: '__proto__' };
      for (const member of Object.values(value)) next.push(member);
    }
    level = next;
  }
  return { kind: 'within' };
}

/** The refusal of variables. Null if they are within the limits. */
export function variablesRefusal(verdict: VariablesVerdict): Refusal | null {
  if (verdict.kind === 'within') return null;
  if (verdict.kind === 'poisoned')
    return new Refusal('invalid_request', { detail: `variables must not have a member named ${verdict.name}.` });
  const { limit, max } = verdict;
  return new Refusal('query_too_costly', {
    detail: `The variables exceed ${limit}, which is at most ${max}.`,
    facts: { limit, max },
  });
}

/** Free fields that take a long text, such as the output that a winner reveals. */
const LONG_TEXT_FIELDS: readonly string[] = ['revealJob'];

/** Whether every field of an operation takes long texts. */
export function wantsLongText(document: DocumentNode, operationName: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== 'mutation') return false;
  return operation.selectionSet.selections.every(
    selection => selection.kind === Kind.FIELD && LONG_TEXT_FIELDS.includes(selection.name.value),
  );
}
