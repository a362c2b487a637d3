import { type DocumentNode, getOperationAST, Kind } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';

/** What is wrong with the variables of a request by their size alone, before any of them is looked up or coerced. */
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
 * JSON.parse takes lists within lists by the hundred thousand; whoever walks them by recursion (coercing, canonical JSON)
 * would run out of stack. Level by level, so that this does not. `long`: the field wants long texts (a chat, an output).
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
      // Harmless as a member of its own, and not worth the trust that nobody after us ever assigns it.
      if (Object.hasOwn(value, '__proto__')) return { kind: 'poisoned', name: '__proto__' };
      for (const member of Object.values(value)) next.push(member);
    }
    level = next;
  }
  return { kind: 'within' };
}

/** Null where there is nothing to refuse. */
export function variablesRefusal(verdict: VariablesVerdict): Refusal | null {
  if (verdict.kind === 'within') return null;
  if (verdict.kind === 'poisoned')
    return new Refusal('invalid_request', { detail: `No variable has a member named ${verdict.name}.` });
  const { limit, max } = verdict;
  return new Refusal('query_too_costly', { detail: `${limit}: the most is ${max}.`, facts: { limit, max } });
}

/** Free fields that take a long text: what a winner reveals is as long as it is. */
const LONG_TEXT_FIELDS: readonly string[] = ['revealJob'];

/** Whether all that an operation does wants long texts. */
export function wantsLongText(document: DocumentNode, operationName: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== 'mutation') return false;
  return operation.selectionSet.selections.every(
    selection => selection.kind === Kind.FIELD && LONG_TEXT_FIELDS.includes(selection.name.value),
  );
}
