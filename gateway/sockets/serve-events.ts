import type { ExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { Refusal } from '../../schema/errors.ts';
import { RefusedWhileHalted } from '../../subgraphs/receipt/log/halt-guard.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import type { Graph } from '../graph/open-graph.ts';
import { publicError } from '../graph/public-error.ts';
import type { SubscribeResult } from '../graph/subscribe.ts';
import type { SocketTally } from '../operations/metrics.ts';
import type { CloseCause } from './delivery.ts';
import { EventBody, type EventWriting } from './event-body.ts';
import { admit, callerOfOperation, operationOf, type SubscriptionRequest, subscribeOperation } from './operation.ts';
import type { SessionSockets, SocketCallers } from './session-sockets.ts';
import type { SharedSubscriptions } from './shared-subscriptions.ts';

export interface EventOptions {
  readonly graph: Graph;
  readonly callers: SocketCallers;
  readonly sessions: SessionSockets;
  readonly shared: SharedSubscriptions;
  readonly tally: SocketTally;
  readonly logger: Logger;
}

interface AdmittedStream {
  readonly body: EventBody;
  readonly events: SubscribeResult;
}

/** Serves subscriptions as SSE responses, under the same rules as sockets: each response is treated as a socket with one operation. */
export class EventStreams {
  readonly #options: EventOptions;
  readonly #open = new Set<EventBody>();

  constructor(options: EventOptions) {
    this.#options = options;
    void options.callers.halted.then(() => {
      for (const body of this.#open) body.shut('halted');
    });
  }

  /** Opens a stream. Returns its body after admission. @throws GraphQLError if it is refused */
  async open(requested: SubscriptionRequest, shown: ShownCredentials, left: AbortSignal): Promise<EventBody> {
    const { body, events } = await this.#admit(requested, shown, { left });
    void this.#write(body, events);
    return body;
  }

  /**
   * Opens a stream in another encoding. A refused subscription is returned as a result before there is a body. @throws GraphQLError if it
   * is not admitted
   */
  async follow(
    requested: SubscriptionRequest,
    shown: ShownCredentials,
    writing: EventWriting,
  ): Promise<EventBody | ExecutionResult> {
    const { body, events } = await this.#admit(requested, shown, { writing });
    if (Symbol.asyncIterator in events) {
      void this.#write(body, events);
      return body;
    }
    body.readable.destroy();
    return events;
  }

  async #admit(
    requested: SubscriptionRequest,
    shown: ShownCredentials,
    { writing, left }: { readonly writing?: EventWriting; readonly left?: AbortSignal },
  ): Promise<AdmittedStream> {
    const { graph, callers, sessions, shared, tally, logger } = this.#options;
    const body = new EventBody(tally, why => publicError(refusals[why](), logger), writing);
    try {
      callers.requireNotHalted();
      const principal = await sessions.identify(body, shown);
      if (principal.possession.kind === 'wrong') throw new Refusal('forbidden');
      const asking = callerOfOperation(graph, requested, principal);
      const context = { ...callers.createContext(asking), left };
      const admitted = admit(graph, requested, context);
      if (!('document' in admitted)) throw admitted[0] ?? new Refusal('invalid_request');
      const gate = sessions.gate(body, asking);
      const out = { delivery: body.delivery(gate), resting: gate.resting };
      const events = await subscribeOperation(graph, shared, { ...operationOf(admitted), context }, out);
      callers.requireNotHalted();
      this.#open.add(body);
      body.onceClosed(() => this.#open.delete(body));
      return { body, events };
    } catch (fault) {
      body.readable.destroy();
      throw fault;
    }
  }

  /** Cuts off all streams, so that their readers reconnect to another process. */
  close(): void {
    for (const body of this.#open) body.cutOff();
  }

  async #write(body: EventBody, events: SubscribeResult): Promise<void> {
    try {
      if (Symbol.asyncIterator in events) await this.#follow(body, events);
      else await body.write(events);
      body.complete();
    } catch (fault) {
      const { logger } = this.#options;
      await body.write({ errors: [publicError(fault, logger)] });
      body.complete();
    }
  }

  async #follow(body: EventBody, events: AsyncIterableIterator<ExecutionResult>): Promise<void> {
    body.onceClosed(() => void events.return?.().catch(() => {}));
    for await (const event of events) {
      if (!body.open) return;
      await body.write(event);
    }
  }
}

const refusals: { readonly [why in CloseCause]: () => Refusal } = {
  forbidden: () => new Refusal('forbidden'),
  broken: () => new Refusal('internal'),
  halted: () => new RefusedWhileHalted(),
};
