import { base64url, equal, isMembers, jcs, type Members, shaText, type Value } from './bytes.ts';
import { areClaims, areUnsignedMembers } from './shapes.ts';
import { isEd25519, isEip191, isEs256, isTokenSigned, isWithinKeyTime, type Token, tokenIn } from './signatures.ts';

/* Checks receipts for the second verifier: whether a receipt is valid, and which of the two signatures next to the token are not. */

export interface ReceiptVerdict {
  readonly valid: boolean;
  /** Which of `signature` and `co_signature` are present but not valid. */
  readonly broken: readonly string[];
  readonly claims: Members;
}

const refused: ReceiptVerdict = { valid: false, broken: [], claims: {} };

/** Claims that each version must sign. */
const signs: Readonly<Record<string, readonly string[]>> = {
  8: [],
  9: ['tree_head_hash', 'tolerance'],
  10: ['tree_head_hash', 'tolerance', 'issuer_history', 'payload_hash'],
  11: ['tree_head_hash', 'tolerance', 'issuer_history', 'payload_hash', 'receipt_policy'],
};

export function judgeReceipt(receipt: Members, keys: Members): ReceiptVerdict {
  const { payload, issuer_signature: issued } = receipt;
  const token = isMembers(issued) ? tokenIn(issued.jws) : null;
  if (!isMembers(payload) || !isMembers(issued) || !token) return refused;
  try {
    return judge({ receipt, payload, issued, token, keys });
  } catch {
    // A payload without a canonical form cannot have been signed.
    return refused;
  }
}

interface ReceiptInput {
  readonly receipt: Members;
  readonly payload: Members;
  readonly issued: Members;
  readonly token: Token;
  readonly keys: Members;
}

function judge({ receipt, payload, issued, token, keys }: ReceiptInput): ReceiptVerdict {
  const { claims } = token;
  const text = String(claims.payload_hash ?? receipt.payload_hash);
  const held = {
    signature: () => isEd25519(keys, receipt.signature, text),
    co_signature: () => isEip191(keys, receipt.co_signature, text),
  };
  const first =
    isTokenSigned(keys, token) &&
    isWithinKeyTime(keys, token) &&
    areClaims(claims) &&
    areUnsignedMembers(receipt) &&
    isVersion(claims);
  if (!first || shaText(jcs(payload)) !== (claims.payload_hash ?? receipt.payload_hash)) return refused;
  if (!agrees(receipt, payload, claims) || !laneHolds(receipt, claims) || !isRaw(issued, token, payload, keys))
    return refused;
  const broken = Object.entries(held).flatMap(([name, holds]) =>
    receipt[name] === undefined || holds() ? [] : [name],
  );
  const there = ['signature', 'co_signature'].filter(name => receipt[name] !== undefined);
  const enough = there.length > broken.length || (there.length === 0 && claims.payload_version === 8);
  const valid =
    enough &&
    isPaidOnce(receipt, claims) &&
    isPlaced(receipt, claims) &&
    isInSession(claims) &&
    leadsHome(receipt, claims);
  return valid ? { valid, broken, claims } : refused;
}

function isVersion({ payload_version: version, ...claims }: Members): boolean {
  const needed = typeof version === 'number' ? signs[String(version)] : undefined;
  return needed?.every(name => (claims[name] ?? null) !== null) ?? false;
}

function isRaw({ kid, alg, value }: Members, token: Token, payload: Members, keys: Members): boolean {
  if (kid !== token.header.kid || alg !== 'ES256') return false;
  return value === undefined || isEs256(keys, kid, jcs(payload), base64url(value));
}

const within = (value: Value | undefined, name: string) => (isMembers(value) ? value[name] : undefined);

/** The claims that a receipt repeats outside of its signed payload, by the name of the member there. */
function repeated(claims: Members): Readonly<Record<string, Value | undefined>> {
  const alike = [
    'hub',
    'model',
    'payload_version',
    'payload_hash',
    'leaf_index',
    'tree_size',
    'tree_head_hash',
    'book_seq',
  ];
  const more = [
    'caller_binding',
    'claim_id',
    'waived_by',
    'answered_model',
    'answered_catalogue_model',
    'vendor_blind',
  ];
  const named = [...alike, ...more].map(name => [name, claims[name]]);
  return {
    ...Object.fromEntries(named),
    task_id: claims.jti,
    amount: within(claims.payment, 'gross_amount'),
    payer_wallet: within(claims.caller_binding, 'payer_wallet'),
    payment_ref: within(claims.payment, 'ref') ?? null,
  };
}

/** First version that can sign a member, unless all versions can. In a receipt of an earlier version the member may be present unsigned. */
const since: Readonly<Record<string, number>> = {
  tree_head_hash: 9,
  leaf_index: 9,
  tree_size: 9,
  book_seq: 9,
  claim_id: 9,
  payload_hash: 10,
  waived_by: 11,
  answered_model: 11,
  answered_catalogue_model: 11,
  vendor_blind: 11,
};

const isEarly = ({ payload_version: version }: Members) => Number(version) < 10;

function agrees(receipt: Members, payload: Members, claims: Members): boolean {
  const copies = Object.entries(repeated(claims)).every(
    ([name, signed]) =>
      receipt[name] === undefined ||
      equal(receipt[name], signed) ||
      (signed === undefined && Number(claims.payload_version) < (since[name] ?? 0)),
  );
  const profile = claims.profile === undefined || receipt.profile === claims.profile;
  return copies && profile && Object.entries(payload).every(([name, member]) => equal(member, claims[name]));
}

function laneHolds(receipt: Members, claims: Members): boolean {
  const { settled_by, proof_outcome, ingress_receipt, omission_rule } = receipt;
  const basis = claims.settlement_basis ?? claims.settled_by ?? null;
  const since = basis === 'receipt' && settled_by === 'observed_transfer';
  if (settled_by !== undefined && settled_by !== basis && !since && !(basis === null && isEarly(claims))) return false;
  if (basis !== 'receipt') {
    const only = claims.waived_by === undefined ? 'settled' : 'none';
    if (proof_outcome !== undefined && proof_outcome !== only) return false;
    if (ingress_receipt !== undefined || omission_rule !== undefined) return false;
  }
  return Object.entries(derived(receipt, claims)).every(
    ([name, expected]) => receipt[name] === undefined || equal(receipt[name], expected),
  );
}

function derived(receipt: Members, { book_seq, payment }: Members): Members {
  const { settled_by = null, proof_outcome, ingress_receipt, anchor_changed_since_binding: changed } = receipt;
  const { network, asset, pay_to, gross_amount } = isMembers(payment) ? payment : {};
  const base = network === 'base' || network === 'eip155:8453';
  const texts = [asset, pay_to, gross_amount].every(value => typeof value === 'string');
  return {
    freeze: typeof book_seq === 'number' && settled_by === 'receipt' && changed === true && proof_outcome !== 'settled',
    unverifiable_from_registry: proof_outcome === 'unverified' && settled_by === null && ingress_receipt === undefined,
    local_check: !(base && texts)
      ? null
      : {
          network: 'base',
          chain: 'eip155:8453',
          asset: asset ?? null,
          payee: pay_to ?? null,
          amount: gross_amount ?? null,
        },
  };
}

/** Checks that a call by a key has no payment, and that there is no payment if claim_id is null, which names no book. */
function isPaidOnce(receipt: Members, claims: Members): boolean {
  const { waived_by, payment, caller_binding: bound, claim_id } = claims;
  // Also applies to a null that is only an unsigned copy in a receipt of an early version.
  if ((claim_id === null || receipt.claim_id === null) && (within(payment, 'ref') ?? undefined) !== undefined)
    return false;
  if (waived_by === undefined) return true;
  const free = payment === undefined && (claims.settlement_basis ?? claims.settled_by ?? null) === null;
  const key = typeof within(bound, 'api_key_hash') === 'string' && within(bound, 'payer_wallet') === undefined;
  return (waived_by === 'live_key' || waived_by === 'demo_key') && free && key;
}

function isPlaced({ log_id, root_hash }: Members, { tree_size, leaf_index, tree_head_hash }: Members): boolean {
  if (tree_size !== undefined && !(typeof leaf_index === 'number' && tree_size === leaf_index + 1)) return false;
  if (log_id === undefined && root_hash === undefined) return true;
  const head = { log_id: log_id ?? null, tree_size: tree_size ?? null, root_hash: root_hash ?? null };
  return shaText(jcs(head)) === tree_head_hash;
}

function isInSession({ iat, valid_after, session_expiry }: Members): boolean {
  const at = typeof iat === 'number' ? iat : Number.NaN;
  return (
    (typeof valid_after !== 'number' || at >= valid_after) &&
    (typeof session_expiry !== 'number' || at <= session_expiry)
  );
}

function leadsHome({ verify_url, verification }: Members, { iss, jti }: Members): boolean {
  const page = `${iss}/receipt/${jti}`;
  const links: readonly [Value | undefined, string][] = [
    [verify_url, page],
    [within(verification, 'jwks_uri'), `${iss}/.well-known/jwks.json`],
    [within(verification, 'issuer_history_uri'), `${iss}/.well-known/issuer-history.json`],
    [within(verification, 'receipt_policy_uri'), `${iss}/.well-known/receipt-policy-history.json`],
    [within(verification, 'preimage_uri'), `${page}/preimage`],
  ];
  return links.every(([link, home]) => link === undefined || link === home);
}
