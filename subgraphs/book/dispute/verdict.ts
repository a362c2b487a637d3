import { canonicalJson, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { disputeSides, factSources, partsOf } from '../../../schema/dispute/facts.ts';
import { disputeReasons, VERDICT_DOES_NOT_PROVE, verdictMeans } from '../../../schema/dispute/reasons.ts';
import {
  type Adjudication,
  adjudicate,
  DISPUTE_RULE_VERSION,
  type DisputeClaim,
} from '../../../schema/dispute/rule.ts';
import { documents } from '../../../schema/documents.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { jwksUri } from '../../../schema/links.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import { factsOf, type KnownSides } from './facts.ts';

/** What is judged, by what was known of it where. */
export interface Case {
  readonly dispute_id: string;
  readonly agent_id: AgentId;
  readonly claim: DisputeClaim;
  readonly sides: KnownSides;
  /** The last event of the book whose facts these are. */
  readonly as_of: { readonly position: number; readonly event_hash: string };
  readonly filed_at: string;
  /** Database time. */
  readonly now_ms: number;
}

export interface Judgement extends Adjudication {
  /** Canonical JSON of the signed document. */
  readonly text: string;
}

/**
 * svc402.dispute_verdict.v1: all that it takes to run the rule again offline, and the `signature` over all of it (ES256, over
 * canonical JSON). `outcome` is left out while it is open.
 */
export function judged({ issuer, profile }: Pick<BookContext, 'issuer' | 'profile'>, tried: Case): Judgement {
  const read = factsOf(tried.sides);
  const adjudication = adjudicate(tried.claim, read);
  const { used, reason, outcome } = adjudication;
  const payload: JsonObject = {
    ...present({ outcome, profile: profile === 'development' ? profile : undefined }),
    schema: documents.dispute_verdict,
    iss: issuer.base_url,
    verify_jwks: jwksUri(issuer.base_url),
    dispute_id: tried.dispute_id,
    agent_id: tried.agent_id,
    ...tried.claim,
    rule_version: DISPUTE_RULE_VERSION,
    reason,
    reason_says: disputeReasons[reason][1],
    facts: used.map(name => ({ name, value: read(name), from: factSources[partsOf(name).fact] })),
    rows: rowsOf(tried.sides),
    receipts: receiptsOf(tried.sides),
    as_of: { ...tried.as_of },
    filed_at: tried.filed_at,
    judged_at: iso(tried.now_ms),
    moves_money: false,
    means: verdictMeans[outcome ?? 'open'],
    does_not_prove: VERDICT_DOES_NOT_PROVE,
  };
  const value = issuer.signCanonical(canonicalJson(payload));
  const text = canonicalJson({ ...payload, signature: { alg: 'ES256', kid: issuer.kid, value } });
  return { ...adjudication, text };
}

/** By side, those that stand. */
function bySide(of: (side: (typeof disputeSides)[number]) => Json): JsonObject {
  return present(Object.fromEntries(disputeSides.map(side => [side, of(side)])));
}

function rowsOf(sides: KnownSides): JsonObject {
  return bySide(side => {
    const { row } = sides[side];
    return row && { task_id: row.task_id, seq: row.seq, row_hash: row.row_hash };
  });
}

const receiptsOf = (sides: KnownSides) => bySide(side => sides[side].receipt);
