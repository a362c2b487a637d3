import { type ExecutionArgs, GraphQLError } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import type { Principal } from '../../schema/principal.ts';
import { standsIn } from '../../subgraphs/access.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Graph } from '../graph/open-graph.ts';
import { mapEvents, type SubscribeResult } from '../graph/subscribe.ts';
import type { Delivery } from './delivery.ts';
import { callerForBook, eventsWhileBound, type SessionLifetime } from './several-sessions.ts';
import type { SharedSubscriptions, SocketOperation } from './shared-subscriptions.ts';

/* Runs one operation of a socket, from its message to its events. */

export interface SubscriptionRequest {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
}

/**
 * Admits an operation, or returns its errors. It is parsed and validated here, because a syntax error in graphql-ws would end the whole
 * socket.
 */
export function admit(
  graph: Graph,
  { query, operationName, variables }: SubscriptionRequest,
  contextValue: Context,
): ExecutionArgs | readonly GraphQLError[] {
  try {
    const document = graph.parse(query);
    const costly = graph.refusal({ document, operationName, variables: variables ?? {} });
    if (costly) return [costly];
    const faults = graph.validate(document);
    if (faults.length > 0) return faults;
    if (graph.isPaid(document, operationName ?? null) && !standsIn(contextValue.principal.api_key)) {
      return [
        new Refusal('invalid_request', {
          detail:
            'Payments are accepted over HTTP only, by /graphql or a REST endpoint. An API key can be used here in place of a payment.',
        }),
      ];
    }
    return { schema: graph.schema, document, operationName, variableValues: variables, contextValue };
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

export function operationOf({ document, operationName, variableValues, contextValue }: ExecutionArgs) {
  return { document, operationName, variables: variableValues ?? {}, context: contextValue };
}

/**
 * The caller of an operation. For an operation on one of several books, only the session of that book counts. An operation that cannot be
 * parsed is refused at admission.
 */
export function callerOfOperation(
  graph: Graph,
  { query, operationName, variables }: SubscriptionRequest,
  principal: Principal,
): Principal {
  if (principal.possession.kind !== 'several') return principal;
  try {
    return callerForBook(
      graph.schema,
      { document: graph.parse(query), operationName, variables: variables ?? {} },
      principal,
    );
  } catch (error) {
    if (error instanceof GraphQLError) return principal;
    throw error;
  }
}

/** The output of the events of an operation, and what ends them. */
export interface OperationOutput {
  readonly delivery: Delivery;
  /** Null if the events end only with the socket. */
  readonly resting: SessionLifetime | null;
}

/** Subscribes in a group if possible, or else executes the operation separately. */
export async function subscribeOperation(
  graph: Graph,
  shared: SharedSubscriptions,
  operation: SocketOperation,
  { delivery, resting }: OperationOutput,
): Promise<SubscribeResult> {
  const events = (await shared.subscribe(operation, delivery)) ?? (await subscribeAlone(graph, operation, delivery));
  return resting && Symbol.asyncIterator in events ? eventsWhileBound(events, resting) : events;
}

async function subscribeAlone(graph: Graph, operation: SocketOperation, { gate }: Delivery): Promise<SubscribeResult> {
  const events = await graph.subscribe(operation);
  if (!(Symbol.asyncIterator in events)) return events;
  // A rotated session ends at once, also on streams that were opened with it.
  return mapEvents(events, async event => {
    await gate.awaitPass();
    return event;
  });
}
