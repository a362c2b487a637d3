import { isMembers, type Members, type Value } from './bytes.ts';

/* Types of the members that the second verifier uses. It never converts a value. */

type Is = (value: Value) => boolean;

const text: Is = value => typeof value === 'string';
const named: Is = value => text(value) && value !== '';
const whole: Is = value => Number.isSafeInteger(value);
const from =
  (least: number): Is =>
  value =>
    whole(value) && Number(value) >= least;
const oneOf =
  (...words: readonly Value[]): Is =>
  value =>
    words.includes(value);
const orNull =
  (is: Is): Is =>
  value =>
    value === null || is(value);
const has =
  (members: Readonly<Record<string, Is>>, ...needed: readonly string[]): Is =>
  value =>
    isMembers(value) &&
    needed.every(name => value[name] !== undefined) &&
    Object.entries(members).every(([name, is]) => value[name] === undefined || is(value[name]));

/** A time of RFC 3339 in UTC on a day that exists. */
const instant: Is = value => {
  const [, day = '', hour] = /^(\d{4}-\d\d-\d\d)T(\d\d):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?Z$/.exec(String(value)) ?? [];
  const read = new Date(`${day}T00:00:00Z`);
  return text(value) && Number(hour) < 24 && !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
};

export const areClaims = has(
  {
    iss: text,
    iat: whole,
    jti: text,
    task_id: text,
    payload_hash: text,
    tree_head_hash: text,
    tree_size: from(1),
    leaf_index: from(0),
    book_seq: from(1),
    claim_id: orNull(whole),
    valid_after: whole,
    session_expiry: whole,
    payment: has({ ref: orNull(text), gross_amount: text }),
    caller_binding: isMembers,
    answered_model: named,
    answered_catalogue_model: named,
    vendor_blind: oneOf(true),
    provider_cogs: has({ actual: from(0), usd_mark: from(0) }, 'actual', 'usd_mark'),
  },
  'iss',
  'jti',
);

const flag: Is = value => typeof value === 'boolean';
const local = ['network', 'chain', 'asset', 'payee', 'amount'];

const again = {
  at: instant,
  output_sha256: orNull(text),
  rerun: from(1),
  hub: text,
  model: text,
  answered_model: orNull(text),
  answered_catalogue_model: orNull(text),
};

export const areUnsignedMembers = has(
  {
    settlement_status: oneOf('settled', 'idempotent_replay', 'waived'),
    proof_outcome: oneOf('settled', 'pending', 'unverified', 'none'),
    settled_by: orNull(oneOf('observed_transfer', 'receipt')),
    ingress_receipt: has({ ref: text, confirmed_at: instant }, 'ref', 'confirmed_at'),
    omission_rule: text,
    answered_again: has(again, ...Object.keys(again)),
    rerun: from(1),
    anchor_changed_since_binding: flag,
    freeze: flag,
    unverifiable_from_registry: flag,
    local_check: has(Object.fromEntries(local.map(name => [name, text])), ...local),
    binding: has({ in_proof: flag }, 'in_proof'),
    chain_ended: oneOf(true),
    profile: oneOf('development', 'production'),
    issuer_signature: isMembers,
    signature: isMembers,
    co_signature: isMembers,
    verification: has(
      Object.fromEntries(
        ['jwks_uri', 'issuer_history_uri', 'receipt_policy_uri', 'preimage_uri', 'how'].map(name => [name, text]),
      ),
    ),
  } satisfies Readonly<Record<string, Is>>,
  'issuer_signature',
) as (document: Members) => boolean;
