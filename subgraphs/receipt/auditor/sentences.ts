import { isNamedByOthers, receiptSummary } from '../../../schema/audit/receipt-summary.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { STAMPED_BY } from '../../../schema/route-words.ts';
import { notSettledHere } from '../../../schema/router/work-report.ts';

/* Sentences on what an audit document proves, what it does not prove, and how to repeat each check without our code. */

/** Evidence that the audit document contains. */
interface Evidence {
  readonly in_log: boolean;
  readonly anchored: boolean;
}

type Sentence = readonly [applies: boolean, sentence: string];

const those = (sentences: readonly Sentence[]) =>
  sentences.flatMap(([applies, sentence]) => (applies ? [sentence] : []));

export function receiptProves({ in_log, anchored }: Evidence): string[] {
  return those([
    [true, 'The holder of the issuer’s key signed this payload, and no member of it was changed since.'],
    [in_log, 'The payload is the leaf at leaf_index of the log under the newest signed head.'],
    [
      in_log,
      'The log was only appended to since the tree head that the receipt signs: nothing before it was changed or removed.',
    ],
    [anchored, 'The tree head that is anchored on Base, as stated, is one of the same log.'],
  ]);
}

/** The evidence, and the other facts that decide which sentences apply. */
interface Subject extends Evidence {
  /** Token of the transfer that the receipt names. Null if nothing was paid. */
  readonly moved: string | null;
  /** True for a payment to another party if it is not proven that the agent made it. */
  readonly payer_unproven: boolean;
  /** Sentences about the model and the hub of the receipt: see `routeSentences`. */
  readonly named: readonly string[];
  /** Report of another party about work that was settled elsewhere. Null if the receipt signs none. */
  readonly reported: JsonObject | null;
}

/** What the receipt does not prove about model and hub. Empty for a stamp, which has neither. */
export function routeSentences(payload: JsonObject): readonly string[] {
  if (isNamedByOthers(receiptSummary(payload, {}).lane))
    return ['That model, hub and resource are correct: others named them, and this service has not seen the work.'];
  if (payload.hub === '' || payload.hub === STAMPED_BY) return [];
  return ['That the hub used the model that is named: the hub was asked for it, and only the hub knows.'];
}

export function receiptDoesNotProve({ moved, payer_unproven, named, reported, in_log, anchored }: Subject): string[] {
  return those([
    [reported !== null, `That what was reported is so. ${notSettledHere(reported ?? {})}`],
    [moved !== null, `That ${moved} moved: the chain alone says so. Look the transfer up.`],
    [payer_unproven, 'That the agent of the book paid it: nobody has shown that, and it counts in no sum.'],
    [moved === null, 'That anything was paid: no payment stands behind it.'],
    ...named.map((sentence): Sentence => [true, sentence]),
    [!in_log, 'That the log still holds it: the log is halted, and nothing is stated of it.'],
    [in_log && !anchored, 'That a head of the log stands on Base: none that is known here does yet.'],
    [anchored, 'That the anchored head stands on Base: look its transaction up.'],
    [true, 'That these keys are the issuer’s: compare them with a key set, or an issuer history, that you had before.'],
    [true, 'That the answer was right, or that it reached anybody.'],
    [true, 'That no other log is shown to others: compare checkpoints with whoever else has one.'],
    [true, 'The members of `lane`: nobody signs them, and they may change.'],
  ]);
}

interface Check extends JsonObject {
  readonly check: string;
  readonly how: string;
}

const check = (name: string, how: string): Check => ({ check: name, how });

const everyReceipt: readonly Check[] = [
  check('signature', 'RFC 7515: verify receipt.issuer_signature.jws as ES256 by the key of `keys` that its kid names.'),
  check(
    'payload',
    'SHA-256 of `preimage` is payload_hash of the claims; `preimage` is receipt.payload in RFC 8785 form.',
  ),
  check('copies', 'Every other member of `receipt` that repeats a claim has the same value as the claim.'),
  check(
    'second signatures',
    'receipt.signature: Ed25519 over the hex text of payload_hash. receipt.co_signature: EIP-191 over it, by a published address.',
  ),
  check('tree head', 'SHA-256 of the RFC 8785 form of {log_id, tree_size, root_hash} is tree_head_hash of the claims.'),
  check(
    'keys of their time',
    'SHA-256 of the RFC 8785 form of issuer_history.snapshot is issuer_history.hash of the claims, and names the kid; of receipt_policy.policy it is receipt_policy.hash. That key, in `keys`: iat is not before nbf nor after exp; where it has revoked, leaf_index is below its tree_size, and another key signed log.checkpoint.',
  ),
  check('inclusion', 'RFC 9162 §2.1.3.2: from SHA-256(0x00 ‖ preimage) along log.inclusion.path to its root_hash.'),
  check(
    'consistency',
    'RFC 9162 §2.1.4.2: log.consistency leads from the root of the receipt’s own head to that of log.head.',
  ),
  check('head', 'log.head.jws is ES256 over the same size and root.'),
  check(
    'checkpoint',
    'https://c2sp.org/tlog-checkpoint: log.checkpoint is a note by one of log.verifier_keys, of the same size and root; log.tlog_proof is https://c2sp.org/tlog-proof.',
  ),
];

export function receiptChecks({
  transfer,
  anchored,
}: {
  readonly transfer: JsonObject | null;
  readonly anchored: boolean;
}): Check[] {
  const { rpc_method, network, expect } = transfer ?? {};
  return [
    ...everyReceipt,
    ...(anchored
      ? [
          check(
            'anchor',
            'eth_getTransactionReceipt of log.anchor.tx_hash: a log with `topic`, the sender as second topic, log_id as third, tree_size and root_hash as its data; log.anchor.consistency leads from one head to the other.',
          ),
        ]
      : []),
    ...(transfer === null
      ? []
      : [
          check(
            'transfer',
            `Ask any RPC of ${String(network)}: ${String(rpc_method)} of transfer.rpc_params; expect ${String(expect)}`,
          ),
        ]),
    check('all of it', '`npm run verify -- FILE` on this document, with --jwks to trust a key set of your own.'),
  ];
}

export const refusalProves = [
  'The holder of the issuer’s key signed that it refused this call, at that anchor, for that code.',
  'Nothing was charged for it, by the issuer’s own word.',
] as const;

export const refusalDoesNotProve = [
  'That the call was refused rightly: the book’s policy says so, which its owner can read.',
  'That the anchor is a block of Base: look its hash up there.',
  'That these keys are the issuer’s: compare them with a key set, or an issuer history, that you had before.',
] as const;

export const refusalChecks: readonly Check[] = [
  check('signature', 'RFC 7515: verify refusal.issuer_signature.jws as ES256 by the key of `keys` that its kid names.'),
  check(
    'copies',
    'Every member of `refusal` that repeats a claim has the same value as the claim; `preimage` is the claims without iss, iat and jti, in RFC 8785 form.',
  ),
  check('raw value', 'refusal.issuer_signature.value is ES256 (r and s, base64url) over `preimage`.'),
  check('anchor', 'eth_getBlockByHash of refusal.base_anchor.block_hash, where its status is AVAILABLE.'),
  check('all of it', '`npm run verify -- FILE` on this document, with --jwks to trust a key set of your own.'),
];
