import { canonicalJson, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { DisputeClaim } from '../../../schema/dispute/claim.ts';
import { disputeSides, factSources, partsOf } from '../../../schema/dispute/facts.ts';
import { verdictWords } from '../../../schema/dispute/reasons.ts';
import { type Adjudication, adjudicate, DISPUTE_RULE_VERSION } from '../../../schema/dispute/rule.ts';
import { documents } from '../../../schema/documents.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { disputeStatusUrl, jwksUri } from '../../../schema/links.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import { disputeFactReader, type KnownSides } from './facts.ts';

/** A dispute to judge, with its facts and the position of the book at which they were read. */
export interface Case {
  readonly dispute_id: string;
  readonly agent_id: AgentId;
  readonly claim: Pick<DisputeClaim, 'task_id' | 'claim_type' | 'evidence'>;
  readonly sides: KnownSides;
  /** Last event of the book when the facts were read. */
  readonly as_of: { readonly position: number; readonly event_hash: string };
  readonly filed_at: string;
  /** Time by the clock of the database. */
  readonly now_ms: number;
  /** Hash and number of the superseded document. Null for the first. */
  readonly before: { readonly hash: string; readonly revision: number } | null;
}

export interface Judgement extends Adjudication {
  /** Number of the judgement, from 1. */
  readonly revision: number;
  /** Canonical JSON of the signed document. */
  readonly text: string;
}

/**
 * Judges a dispute and signs the document `svc402.dispute_verdict.v1`. The document has everything needed to run the rule again
 * offline, and a `signature` over all of it (ES256, over canonical JSON). `outcome` is absent while the dispute is open. `revision`,
 * `supersedes`, `final` and `status_url` say whether a later document may exist.
 */
export function judgeDispute({ issuer, profile }: Pick<BookContext, 'issuer' | 'profile'>, tried: Case): Judgement {
  const read = disputeFactReader(tried.sides);
  const judged_at = iso(tried.now_ms);
  const rule_version = DISPUTE_RULE_VERSION;
  const adjudication = adjudicate({ ...tried.claim, judged_at, rule_version }, read);
  const { used, reason, outcome, ...found } = adjudication;
  const said = verdictWords(rule_version, reason);
  if (said === null) throw new Error(`rule ${rule_version} has no words for ${reason}`);
  const revision = (tried.before?.revision ?? 0) + 1;
  const payload: JsonObject = {
    ...present({
      outcome,
      profile: profile === 'development' ? profile : undefined,
      supersedes: tried.before?.hash,
      ...found,
    }),
    schema: documents.dispute_verdict,
    iss: issuer.base_url,
    verify_jwks: jwksUri(issuer.base_url),
    dispute_id: tried.dispute_id,
    agent_id: tried.agent_id,
    ...tried.claim,
    rule_version,
    reason,
    ...said,
    revision,
    status_url: disputeStatusUrl(issuer.base_url, tried.dispute_id),
    final: outcome === 'refund',
    facts: used.map(name => ({ name, value: read(name), from: factSources[partsOf(name).fact] })),
    rows: rowsOf(tried.sides),
    receipts: receiptsOf(tried.sides),
    as_of: { ...tried.as_of },
    filed_at: tried.filed_at,
    judged_at,
    moves_money: false,
  };
  const value = issuer.signCanonical(canonicalJson(payload));
  const text = canonicalJson({ ...payload, signature: { alg: 'ES256', kid: issuer.kid, value } });
  return { ...adjudication, revision, text };
}

/** Values by side. A side without a value is left out. */
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
