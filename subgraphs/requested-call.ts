import type { JsonObject } from '../schema/canonical-json.ts';
import type { NamedIntent } from '../schema/requests/paid-work.ts';
import type { AnyPaid } from './sale.ts';

/** Facts that a request states about its call. They are checked by the book's policy, and stored in the row if the call is refused. */
export interface RequestedCall extends NamedIntent {
  /** Coordinate of the paid field. The name of the operation is derived from it. */
  readonly field: string;
  /** Model as the request names it. Null if it names none. */
  readonly model: string | null;
  /** Ids of the models of which one will answer. Empty if the call involves no model. */
  readonly models: readonly string[];
  /** Ids of the models that svc/auto may choose for the call. Absent if no model is involved. */
  readonly auto_models?: readonly string[];
}

const namesNone: NamedIntent = { intent_id: null, attempt_index: null, parent_ref: null };

/** Reads the facts from the arguments, once for all code between the request and the row. */
export function requestedCall(paid: AnyPaid, args: JsonObject): RequestedCall {
  const { intent_id, attempt_index, parent_ref } = paid.intent?.(args) ?? namesNone;
  const named = { field: paid.field, model: paid.model?.(args) ?? null, models: paid.models?.(args) ?? [] };
  const auto_models = paid.auto_models?.(args);
  return { ...named, ...(auto_models && { auto_models }), intent_id, attempt_index, parent_ref };
}
