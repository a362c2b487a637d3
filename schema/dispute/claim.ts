import type { Json, JsonObject } from '../canonical-json.ts';
import type { DisputeFactName } from './facts.ts';
import type { ClaimType, DisputeReason } from './reasons.ts';

/* What a rule of disputes is given, and what it comes to. */

export interface DisputeClaim {
  readonly claim_type: ClaimType;
  readonly task_id: string;
  /** Bounded, and its caller's: of it nothing counts but what rules name. */
  readonly evidence: JsonObject;
  /** Of the rule that decides, or has decided. */
  readonly rule_version: number;
  /** When it is, or was, judged: RFC 3339. Rules 1 and 2 do not ask. */
  readonly judged_at?: string;
}

export type ReadFact = (name: DisputeFactName) => Json;

/** What a rule comes to. Members beside the reason are left out where they do not apply, and are facts as they were read. */
export interface RuleFinding {
  readonly reason: DisputeReason;
  /** Of what is open: the time after which it is decided. */
  readonly decides_after?: Json;
  /** Of two charges for the same, the one that stands. */
  readonly standing_task_id?: string;
  /** Of a refund: which charge the issuer owes back, and how much it was. */
  readonly owed_back?: { readonly task_id: Json; readonly amount: Json };
  /** Of a job that was paid for in vain: what its winner was paid. The issuer has not had it, and does not owe it. */
  readonly owed_by_winner?: { readonly agent_id: Json; readonly amount: Json };
}
