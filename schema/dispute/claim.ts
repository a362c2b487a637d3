import type { Json, JsonObject } from '../canonical-json.ts';
import type { DisputeFactName } from './facts.ts';
import type { ClaimType, DisputeReason } from './reasons.ts';

/* Input and output of a dispute rule. */

export interface DisputeClaim {
  readonly claim_type: ClaimType;
  readonly task_id: string;
  /** Supplied by the caller and bounded in size. Rules read only the members they name. */
  readonly evidence: JsonObject;
  /** Version of the rule that decides or decided. */
  readonly rule_version: number;
  /** Time of the judgement (RFC 3339). Rules 1 and 2 do not use it. */
  readonly judged_at?: string;
}

export type ReadFact = (name: DisputeFactName) => Json;

/** Result of a rule. Members other than the reason are absent if they do not apply, and are facts as they were read. */
export interface RuleFinding {
  readonly reason: DisputeReason;
  /** For an open dispute: the time after which it is decided. */
  readonly decides_after?: Json;
  /** Of two charges for the same request, the one that remains valid. */
  readonly standing_task_id?: string;
  /** For a refund: the charge that the issuer owes back, and its amount. */
  readonly owed_back?: { readonly task_id: Json; readonly amount: Json };
  /** For a job paid in vain: the price paid to its winner. The issuer did not receive it and does not owe it. */
  readonly owed_by_winner?: { readonly agent_id: Json; readonly amount: Json };
}
