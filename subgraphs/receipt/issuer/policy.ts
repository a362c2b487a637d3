import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { ReceiptPolicyRef, Tolerance } from '../../../schema/receipt-shapes.ts';
import {
  commitments,
  commitmentsAsAnswered,
  commitmentsOfBoard,
  commitmentsOfIngests,
  commitmentsOfJobFlags,
  commitmentsThatCover,
  commitmentsWithCalls,
} from './commitments.ts';

/** The settled amount equals the price to the last unit; clocks may differ by a minute. */
export const tolerance: Tolerance = { amount_atomic: '0', clock_seconds: 60 };

/** Published: not a byte of it changes. */
const first = {
  schema: documents.receipt_policy,
  version: 1,
  payload_version: 11,
  tolerance,
  members: {
    'tolerance.amount_atomic': 'By how many atomic units payment.settled_amount may differ from payment.gross_amount.',
    'tolerance.clock_seconds':
      "By how many seconds a verifier's clock may differ from iat, issued_at and collected_at.",
    'payment.gross_amount': 'The price in atomic USDC (6 decimals), as a decimal string; nothing is deducted on chain.',
    'payment.settled_amount': 'What the transfer to payment.pay_to carried, in the same units.',
    'payment.ref':
      'network:transaction hash of the transfer; payment.transfer_index tells transfers of one transaction apart.',
    'settled_by.observed_transfer': 'The issuer saw the transfer on chain before it signed.',
    'settled_by.receipt':
      'The issuer was told of the settlement and had not looked; poll /task-status for the outcome.',
    caller_binding: 'The wallet that authorised the payment, or the SHA-256 of the key that waived it.',
    claim_id: 'The book (agent_id) on which the row stands; left out where there is none.',
    fulfillment:
      'What was done; output_commitment.hash of a completion is the SHA-256 of the canonical JSON of its choices.',
    request_hash:
      'SHA-256 of the canonical {request_hash, salt}: request_hash is the SHA-256 of the canonical {field, args} that was paid for, the salt went to the payer in x-svc-request-salt.',
    tree_head_hash:
      'SHA-256 of the canonical {log_id, tree_size, root_hash} of the log prefix that ends with this receipt.',
  },
  does_not_prove: 'The signature alone does not prove that USDC moved: look up payment.ref on its network.',
} satisfies JsonObject;

/** One commitment rule for each door, where version 1 knew that of completions alone. */
const second = {
  ...first,
  version: 2,
  members: {
    ...first.members,
    fulfillment:
      'What was done. Of output_commitment, commitments.doors says for each door what its hash is of; status UNVERIFIED has no hash, and commitments.omissions says why.',
  },
  commitments,
  previous_hash: canonicalHash(first),
} satisfies JsonObject;

/** Answers that call tools, where version 2 knew text alone: of text the rule is what it was. */
const third = {
  ...second,
  version: 3,
  commitments: commitmentsWithCalls,
  previous_hash: canonicalHash(second),
} satisfies JsonObject;

const { 'settled_by.observed_transfer': seen, 'settled_by.receipt': told, ...unchanged } = third.members;

/**
 * Images and transcriptions as they are sent, where version 3 completed members that the wire leaves out. The signed
 * basis of settlement has its own name: `settled_by` is an unsigned fact of the lane that may change.
 */
const fourth = {
  ...third,
  version: 4,
  members: {
    ...unchanged,
    'settlement_basis.observed_transfer': seen,
    'settlement_basis.receipt': told,
    provider_cogs:
      'What the work cost the issuer, in atomic USDC (6 decimals): actual by the tokens that its hub counted, usd_mark by the price of a call there. Left out where no price is known.',
    'fulfillment.intent.resource': 'The URL of the door at which it was bought; that of /graphql where it was no door.',
  },
  commitments: commitmentsAsAnswered,
  previous_hash: canonicalHash(third),
} satisfies JsonObject;

/**
 * What was reported of work that others did and were paid for: it stands where otherwise a payment or a waiver does. And
 * what a book chain signs of payments that were looked up.
 */
const fifth = {
  ...fourth,
  version: 5,
  members: {
    ...fourth.members,
    book_id:
      'In payload version 4 (book chain) alone, side by side with payment_ref (network:transaction): the book on which that payment is recorded, or for which a stamp was paid.',
    observed_transfer:
      'In payload version 4: the transfer as its chain showed it to the issuer. index is that of its log inside the block on Base, of its instruction inside the transaction on Solana, and null on Nano; amount is in atomic units of rail: 6 decimals of usdc, 30 of xno.',
    payer_proven:
      'In payload version 4: whether the agent of book_id had shown that the payer is its own: by its wallet, by calls that the payer had paid for on that book, or by a text that the payer signed.',
    reported:
      'What the holder of a router book has said of a generation of a third-party router: by (the router book), generation_id, rail and amount (millionths of a dollar), payment_ref as it was said, and verified_with where a look-up at that router under the key of the book had told the same id, the same model and a cost less than one millionth of a dollar away before this was signed. The issuer signs that it was said. It settled nothing, took no payment and has seen none; payment_ref takes no reference and proves nothing. request_hash of such a receipt is the SHA-256 of the canonical {field, args}, without a salt: field is Mutation.broadcastGeneration, args are the members of reported but verified_with, and model.',
  },
  commitments: commitmentsOfIngests,
  previous_hash: canonicalHash(fourth),
} satisfies JsonObject;

/** What is bought on the board, what is paid for there in two, and completions from elsewhere that are reported to it. */
const sixth = {
  ...fifth,
  version: 6,
  members: {
    ...fifth.members,
    reported: `${fifth.members.reported} Where by is inbound: and a source, a holder of the inbound secret of the board has said it of a completion at that source: generation_id (its id there), rail usdc, amount and payment_ref (network:transaction). The issuer settled nothing and took no payment. verified_with is there where the chain of that network had shown the transfer of that amount, from the payer to the payee that were named, before this was signed: then settlement_basis is observed_transfer, and payment_ref takes the reference of that transfer. request_hash is the SHA-256 of the canonical {field, args}, without a salt: field is Mutation.recordCompletion, args are {source, external_id, network, payer, payee, amount, transaction, output_hash} as they were answered. Its output_commitment.hash is output_hash as it was said: the issuer has not seen what was delivered.`,
    legs: 'Where something was paid for in two: first the payment to whom it was owed (leg payee), which is payment itself, then that of the fee of the issuer (leg fee), which has a receipt of its own beside it. Both had moved, and the issuer had seen both on their chain, before this was signed. The same receipt stands on the book of who paid (claim_id) and, without an amount, on that of who was paid.',
  },
  commitments: commitmentsOfBoard,
  previous_hash: canonicalHash(fifth),
} satisfies JsonObject;

/** What is paid for or done under a session that a payer has delegated to the key of an agent. */
const seventh = {
  ...sixth,
  version: 7,
  members: {
    ...sixth.members,
    'caller_binding.agent_pubkey':
      'The public key of secp256k1 that the grant of delegation_hash names: the agent that acts under it. That it has signed anything of this call is not said.',
    delegation_hash:
      'The EIP-712 digest of the AuthorizeSession grant (domain svc.session, version 1, chain 8453) that came beside the payment, or in which an act was done. The issuer has verified that the payer of the grant is the payer of the payment and has signed it, or that the key of its parent has; and that its cap and those of all over it cover what was paid. Left out, with valid_after and session_expiry, where the session was over before the call was recorded: fulfillment.authorization.delegation_hash alone names it then.',
    valid_after: 'From when on that session is in force, Unix seconds: iat is not before it.',
    session_expiry: 'When that session ends, Unix seconds: iat is not after it.',
    parent_receipt_id:
      'Beside target_agent: the task_id of the receipt of which this one was made, by an act that the key of the session has signed. Such a receipt names no payment, no payer and no amount, and backs nothing. Its request_hash is the SHA-256 of the canonical {field, args}, without a salt: field is Mutation.actInSession, args are {delegation_hash, nonce, action, resource, deadline, target_agent}.',
    target_agent: 'The agent that may redeem this receipt, once: then it stands on its book.',
    request_hash: `${sixth.members.request_hash} Of a call that was paid under a session request_hash is that of {field, args, delegation_hash}.`,
  },
  previous_hash: canonicalHash(sixth),
} satisfies JsonObject;

/** Who made a commitment, where version 7 left readers to know it by what was bought. */
const commitmentMakerMembers = {
  'fulfillment.output_commitment.by':
    'Who made the commitment. service: the issuer hashed an answer that it had in hand. winner: the winner of a job of the board named the hash when the job was delivered. reporter: the party that recorded or reported the work named the hash. The issuer has not seen an output whose commitment was made by winner or reporter. Left out where status is UNVERIFIED.',
} satisfies JsonObject;

/** A grant names the service that it is for, and may come beside a key that stands in for the payment. */
const sessionDomainMembers = {
  delegation_hash:
    'The EIP-712 digest of the AuthorizeSession grant that came beside the payment, or beside the API key that stood in for it, or in which an act was done. Its domain is svc.session, chain 8453: version 2, whose salt is the SHA-256 of the UTF-8 of iss or of a base URL that the issuer had before; or version 1, without a salt, of a session that a payment had bound under a receipt policy before version 8. The issuer has verified that the payer of the grant has signed it, or that the key of its parent has; where there is a payment, also that the payer of the grant is the payer of the payment, and that its cap and those of all over it cover what was paid. Left out, with valid_after and session_expiry, where the session was over before the call was recorded: fulfillment.authorization.delegation_hash alone names it then.',
};

/** Who is said to have paid whom for a completion from elsewhere. */
const completionMembers = {
  reported_parties:
    'Beside reported where by is inbound: and a source: payer and payee of the payment as the reporter named them. verified is true if the chain of that network had shown the transfer of that amount from that payer to that payee before this was signed, and false if the issuer knows both names from the reporter alone.',
};

const eighth = {
  ...seventh,
  version: 8,
  members: {
    ...seventh.members,
    ...commitmentMakerMembers,
    ...sessionDomainMembers,
    ...completionMembers,
  },
  commitments: { ...seventh.commitments, doors: { ...seventh.commitments.doors, ...commitmentsOfJobFlags } },
  previous_hash: canonicalHash(seventh),
} satisfies JsonObject;

/** The model that answered, as its hub names it, and what is passed on to a hub. */
const answeredModelMembers = {
  model:
    'Of an answer by a hub: the model that it was asked for, and of svc/auto the one that the issuer chose. Otherwise what was sold, or the model as the reporter named it.',
  answered_model:
    'The model that the hub named in its answer: the member model of a whole answer, or of the first part of a streamed one that has it. It is the word of the hub: the issuer has not observed otherwise which model answered. Left out where the hub named none, where it named more than 200 characters or anything but plain text, and where the name would tell a key, an address or an account of a hub.',
  answered_catalogue_model:
    "The id of the hub's catalogue that answered_model names, by the configuration of the issuer as it signed: model itself where answered_model is configured as an alias of it; otherwise the id that answered_model is, is an alias of, or is a version of. Left out where it names none of the catalogue, and where answered_model is model, or model with nothing but a version added: -YYYY-MM-DD, -YYYYMMDD, -MMDD, -YYMM or a number from -001 to -009, or the same behind @. A provider before the last slash is not compared where only one of both names has one, and neither is router/ before model.",
  'fulfillment.output_commitment.covers':
    'Names of the members that the hash covers; commitments.covers has the rule. Left out where status is UNVERIFIED, and where the issuer has not seen the output.',
  vendor_blind:
    'The issuer added nothing that says who asks: no address, wallet, key, session or name. What the caller wrote for the model was put into the form that the hub takes; members without effect (listed in the documentation) were left out. Text of the caller that names the caller reached the hub.',
} satisfies JsonObject;

const ninth = {
  ...eighth,
  version: 9,
  members: { ...eighth.members, ...answeredModelMembers },
  commitments: commitmentsThatCover(eighth.commitments),
  previous_hash: canonicalHash(eighth),
} satisfies JsonObject;

/**
 * What each signed member means, for readers who judge a receipt: oldest first, each naming the one before it by its
 * hash. Published versions never change; a new one is added.
 */
export const policies: readonly JsonObject[] = [first, second, third, fourth, fifth, sixth, seventh, eighth, ninth];

/** What receipts sign of it: the newest that this code acts by, whatever a newer one beside it has published since. */
export const receiptPolicyRef: ReceiptPolicyRef = { hash: canonicalHash(ninth), version: ninth.version };
