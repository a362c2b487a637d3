/*
 * Everything that a wallet or the key of a session signs for this service, in one table. Each names the service that it is for, so
 * that no signature counts at another one; the two register texts are spelled by the specification, and name a task or a payment of
 * one service instead. A payment is not among them: it is signed for USDC, and names its payee.
 */

/** How a signed text or typed data names the service that it is for. */
export type NamesService =
  /** The part behind the first word is the base URL. */
  | 'part'
  /** Its member `iss` is the base URL. */
  | 'member'
  /** `salt` of its EIP-712 domain is the SHA-256 of the base URL. */
  | 'salt'
  /** It does not: its words are those of the specification. */
  | 'specified';

const text = <const P extends readonly string[]>(word: string, parts: P) =>
  ({ form: 'text', names: 'part', word, parts }) as const;
const specified = <const P extends readonly string[]>(word: string, parts: P) =>
  ({ form: 'text', names: 'specified', word, parts }) as const;
const claim = (word: string) => ({ form: 'claim', names: 'member', word }) as const;
/** Its members are in session/typed-data.ts, which hashes: clients in browsers read the texts alone. */
const typed = <const T extends string>(type: T) => ({ form: 'typed_data', names: 'salt', type }) as const;

export const signedWords = {
  /** The wallet that pays for its registration. */
  register_pay: specified('svc.register.pay', ['checksum_address', 'unix_seconds']),
  /** The wallet that registers by a receipt, or recovers its registration. */
  register_recover: specified('svc.register.recover', ['task_id', 'checksum_address', 'unix_seconds']),
  /** A wallet requests the receipts that it has paid for. */
  receipts: text('svc.receipts', ['checksum_address', 'unix_seconds']),
  /** A wallet whose transfers an agent may have gone through. */
  reconcile: text('svc.reconcile', ['agent_id', 'checksum_address', 'unix_seconds']),
  /** A wallet requests the tasks that it has paid for, or cancels one. */
  tasks: text('svc.tasks', ['network', 'wallet', 'unix_seconds']),
  /** A payer requests a paid answer again. */
  redeliver: text('svc.redeliver', ['network', 'payment_id', 'unix_seconds']),
  /** The payer of a payment to another party, which an agent records. */
  ingest: text('svc.ingest', ['agent_id', 'network:transaction', 'unix_seconds']),
  /** An address on Solana to which a job is paid. */
  payout: text('svc.board.payout', ['job_id', 'agent_id', 'address', 'unix_seconds']),
  /** The wallet of a book's agent, which answers an approval request. */
  approve: text('svc.approval.approve', ['approval_id', 'request_hash', 'unix_seconds']),
  deny: text('svc.approval.deny', ['approval_id', 'request_hash', 'unix_seconds']),
  /** The same wallet, which consents that links that answer approval requests go to a URL. */
  approval_webhook: text('svc.webhook.approval', ['agent_id', 'url', 'unix_seconds']),
  /** The same wallet, of an inflow and of its correction: the word, a pipe and canonical JSON. */
  inflow: claim('svc.inflow_claim'),
  correction: claim('svc.inflow_correction'),
  /** A payer's grant, an act of a session's key, and a payer's revocation (EIP-712). */
  AuthorizeSession: typed('AuthorizeSession'),
  SessionAct: typed('SessionAct'),
  RevokeSession: typed('RevokeSession'),
} as const;

type Words = typeof signedWords;
export type SignedWord = keyof Words;
type OfForm<F extends { readonly [member: string]: unknown }> = {
  [K in SignedWord]: Words[K] extends F ? K : never;
}[SignedWord];
export type SignedText = OfForm<{ readonly form: 'text'; readonly names: 'part' }>;
type RegisterText = OfForm<{ readonly names: 'specified' }>;

type Parts<K extends SignedText | RegisterText> = { readonly [P in Words[K]['parts'][number]]: string | number };

/** The text that is signed: its word, the base URL of the service, then its parts, joined by a pipe. */
export function signedText<K extends SignedText>(kind: K, base_url: string, parts: Parts<K>): string {
  return joinParts(signedWords[kind], [base_url], parts);
}

export function registerText<K extends RegisterText>(kind: K, parts: Parts<K>): string {
  return joinParts(signedWords[kind], [], parts);
}

function joinParts(
  { word, parts }: { readonly word: string; readonly parts: readonly string[] },
  service: readonly string[],
  values: Readonly<Record<string, string | number>>,
): string {
  return [word, ...service, ...parts.map(part => values[part])].join('|');
}

/** The text as descriptions show it. */
export function textForm(kind: SignedText | RegisterText): string {
  const { word, names, parts } = signedWords[kind];
  const service = names === 'part' ? ['<base URL of this service>'] : [];
  return `\`${[word, ...service, ...parts.map(part => `<${part}>`)].join('|')}\``;
}
