import type { KeyObject } from 'node:crypto';
import { type DocumentNode, type ExecutionResult, type GraphQLSchema, Kind, print } from 'graphql';
import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import { nobody } from '../../../schema/principal.ts';
import type { Clock, Random } from '../../../subgraphs/clock.ts';
import type { Context } from '../../../subgraphs/context.ts';
import type { Subgraph } from '../../../subgraphs/subgraph.ts';
import { IncomingFile, type Sender, type UploadedFile, type Uploads } from '../../../subgraphs/uploads.ts';
import type { Vault } from '../../../subgraphs/vault.ts';
import type { Operation, Source } from '../source.ts';
import { type PaidFields, paidField } from '../supergraph.ts';
import { readAnswer } from './answer.ts';
import { CALL_HEADER, callerForSubgraph, type SubgraphCall, sealRouterKey, signCall, uploadsOf } from './call.ts';
import { EVENT_STREAM, openEvents } from './event-stream.ts';
import { type PoolName, Pools, type PostResult } from './pools.ts';

interface RemoteOptions {
  readonly url: string;
  readonly key: KeyObject;
  /** Encrypts the secret members of a call, with the same secret as `key`. */
  readonly vault: Vault;
  readonly paid: PaidFields;
  readonly clock: Clock;
  readonly random: Random;
}

/** A subgraph in another process. It is called over HTTP with the caller and the payment, signed by this gateway. */
export class RemoteSource implements Source {
  readonly schema: GraphQLSchema;
  readonly #name: string;
  readonly #options: RemoteOptions;
  readonly #pools: Pools;
  readonly #printed = new WeakMap<DocumentNode, PrintedQuery>();

  /** The first argument is this process's copy of the subgraph, used to plan what the subgraph can answer. */
  constructor({ name, schema }: Pick<Subgraph, 'name' | 'schema'>, options: RemoteOptions) {
    this.schema = schema;
    this.#name = name;
    this.#options = options;
    this.#pools = new Pools(options.url);
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  async execute(operation: Operation): Promise<ExecutionResult> {
    const posted = await this.#post(operation, this.#print(operation).paid ? 'paid' : 'reads');
    return this.#answered(posted, operation);
  }

  /** Whether the subgraph accepts and answers calls of this gateway now. Tested by an empty call. */
  async answers(): Promise<boolean> {
    const call = { subgraph: this.#name, principal: nobody, payment: null, nonce: this.#nonce() };
    const headers = {
      'content-type': 'application/json',
      ...this.#signed({ ...call, body_sha256: sha256Hex(NOTHING) }),
    };
    const posted = await this.#pools.post('looks', { headers, body: NOTHING });
    if (posted.kind !== 'answered') return false;
    const text = await posted.body.text().catch(() => '');
    return posted.status === 200 && readAnswer(text) !== null;
  }

  async subscribe(operation: Operation): Promise<AsyncIterable<ExecutionResult> | ExecutionResult> {
    const posted = await this.#post(operation, 'events');
    if (posted.kind !== 'answered' || posted.media !== EVENT_STREAM) return this.#answered(posted, operation);
    try {
      const { headers, results } = await openEvents(posted.body, cause => this.#unanswered(operation, cause));
      Object.assign(contextOf(operation).response.headers, headers);
      return results;
    } catch (cause) {
      posted.body.destroy();
      return this.#unanswered(operation, cause);
    }
  }

  #post(operation: Operation, pool: PoolName): Promise<PostResult> {
    const { vault } = this.#options;
    const { operationName, variables, written } = operation;
    // `head` is the beginning of the JSON object. JSON leaves out undefined members of the rest.
    const body = this.#print(operation).head + JSON.stringify({ operationName, variables, written }).slice(1);
    const { principal, payment, router_key, redelivery, idempotency_key, ...brought } = contextOf(operation);
    const { delegation, named_write, note, resource } = brought;
    const to = { subgraph: this.#name, nonce: this.#nonce() };
    const call = {
      ...to,
      principal: callerForSubgraph(principal),
      payment,
      ...(redelivery === null ? {} : { redelivery }),
      ...(idempotency_key === null ? {} : { idempotency_key }),
      ...(named_write === undefined ? {} : { named_write }),
      ...(delegation === null ? {} : { delegation }),
      ...(note === null ? {} : { note }),
      ...(resource === undefined ? {} : { resource }),
      // The router key is sent with paid calls only, because free calls use no router.
      ...(router_key && this.#print(operation).paid ? { router_key_box: sealRouterKey(vault, router_key, to) } : {}),
      body_sha256: sha256Hex(body),
    };
    const accept = pool === 'events' ? EVENT_STREAM : 'application/json';
    const headers = { accept, 'content-type': 'application/json', ...this.#signed(call) };
    // A paid call continues when its reader has left, so it is not aborted.
    const left = pool === 'events' && !this.#print(operation).paid ? contextOf(operation).left : undefined;
    return this.#pools.post(pool, { headers, body, left });
  }

  /**
   * Begins the upload of a file to this subgraph. Its id is the nonce of the call that delivers it, so it cannot be guessed and is valid
   * once.
   */
  beginUpload(uploads: Uploads, sender: Sender): RemoteUpload {
    const id = this.#nonce();
    return new RemoteUpload(id, uploads, sender, file => this.#deliver(id, file));
  }

  async #deliver(nonce: string, { bytes, sha256 }: UploadedFile): Promise<void> {
    const call = { subgraph: uploadsOf(this.#name), principal: nobody, payment: null, nonce, body_sha256: sha256 };
    const headers = { 'content-type': 'application/octet-stream', ...this.#signed(call) };
    const posted = await this.#pools.post('uploads', { headers, body: bytes });
    if (posted.kind !== 'answered') throw new Refusal('unavailable', { cause: this.#named(posted.cause) });
    posted.body.destroy();
    const cause = new Error(`HTTP ${posted.status}, and not a file that was taken`);
    if (posted.status !== 204) throw new Refusal('unavailable', { cause: this.#named(cause) });
  }

  #nonce(): string {
    return Buffer.from(this.#options.random.bytes(16)).toString('hex');
  }

  #signed(call: Omit<SubgraphCall, 'at_ms'>): Readonly<Record<string, string>> {
    const { clock, key } = this.#options;
    return { [CALL_HEADER]: signCall(key, { ...call, at_ms: clock.now_ms() }) };
  }

  async #answered(posted: PostResult, operation: Operation): Promise<ExecutionResult> {
    if (posted.kind === 'unsent') return this.#untouched(posted.cause);
    if (posted.kind === 'silent') return this.#unanswered(operation, posted.cause);
    try {
      const text = await posted.body.text();
      const refusedHere = posted.status === 401 || posted.status === 413;
      if (refusedHere) return this.#untouched(new Error(`the subgraph refused our call with ${posted.status}`));
      const answer = posted.status === 200 ? readAnswer(text) : null;
      if (answer === null) throw new Error(`HTTP ${posted.status}, and no answer of a subgraph`);
      Object.assign(contextOf(operation).response.headers, answer.headers);
      return answer.result;
    } catch (cause) {
      return this.#unanswered(operation, cause);
    }
  }

  /** Error of a call that the subgraph has not begun. It states nothing about the payment, which may have been used by an earlier call. */
  #untouched(cause: unknown): ExecutionResult {
    return refusalResult(new Refusal('unavailable', { cause: this.#named(cause) }));
  }

  /** Error of a call that may have had any effect. Its payment may have been used, so the error must not ask the payer for another one. */
  #unanswered(operation: Operation, fault: unknown): ExecutionResult {
    const cause = this.#named(fault);
    const pays = this.#print(operation).paid && contextOf(operation).payment !== null;
    if (!pays) return refusalResult(new Refusal('unavailable', { cause }));
    return refusalResult(new Refusal('settlement_pending', { cause, facts: { retry_after_seconds: 2 } }));
  }

  #named(cause: unknown): Error {
    return new Error(`subgraph ${this.#name} at ${this.#options.url}`, { cause });
  }

  /** Prints a document. Each document is printed once. */
  #print({ document }: Operation): PrintedQuery {
    const known = this.#printed.get(document);
    if (known) return known;
    const paid = document.definitions.some(
      node => node.kind === Kind.OPERATION_DEFINITION && paidField(document, node, this.#options.paid) !== null,
    );
    const printed = { head: `{"query":${JSON.stringify(print(document))},`, paid };
    this.#printed.set(document, printed);
    return printed;
  }
}

const NOTHING = JSON.stringify({ query: '{ __typename }' });

interface PrintedQuery {
  /** The fixed beginning of each message that sends this document. */
  readonly head: string;
  /** Whether any operation of the document is paid. */
  readonly paid: boolean;
}

function refusalResult(refusal: Refusal): ExecutionResult {
  return { data: null, errors: [refusal] };
}

/** The context of an operation. The graph passes contexts on without reading them, and all of them are made by this gateway. */
function contextOf({ context }: Operation): Context {
  return context as Context;
}

/** A file for another process. It is sent in a separate message before the query that names it. */
export class RemoteUpload extends IncomingFile {
  readonly id: string;
  readonly #send: (file: UploadedFile) => Promise<void>;

  constructor(id: string, { room }: Uploads, sender: Sender, send: (file: UploadedFile) => Promise<void>) {
    super(room, sender);
    this.id = id;
    this.#send = send;
  }

  async deliver(): Promise<void> {
    if (this.length === 0) return;
    await this.#send(this.complete());
    // The subgraph has the file, so this copy can be released.
    this.release();
  }
}
