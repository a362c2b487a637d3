import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import { GraphQLError, getOperationAST, type OperationTypeNode } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { repeatedMember } from '../../schema/json-bounds.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Graph } from '../graph/open-graph.ts';

type DocumentReader = Pick<Graph, 'parse' | 'validate' | 'refusal'>;
type Request = Pick<FastifyRequest, 'method' | 'body' | 'query'>;

const ONE_AT_A_TIME = 'A request must contain one operation. A list of operations is not accepted.';

/**
 * Checks a request to /graphql before Apollo gets it and before the caller is identified. Limits on its cost are checked first, and
 * only then GraphQL's rules. A malformed request is left to Apollo.
 */
export function requestFaults({ method, body, query }: Request, graph: DocumentReader): readonly GraphQLError[] {
  if (method === 'POST' && Array.isArray(body)) return [new Refusal('invalid_request', { detail: ONE_AT_A_TIME })];
  const params = membersOf(method === 'GET' ? query : body);
  const repeated = typeof params.variables === 'string' ? repeatedVariable(params.variables) : null;
  if (repeated) return [repeated];
  if (typeof params.query !== 'string' || params.query === '') return [];
  try {
    const document = graph.parse(params.query);
    const operationName = typeof params.operationName === 'string' ? params.operationName : null;
    const refused = graph.refusal({ document, operationName, variables: variablesOf(params.variables) });
    return refused ? [refused] : graph.validate(document);
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

/** Reads the request without checking it. `query` is null if it is missing or empty. */
export function readOperation({ method, body, query }: Request) {
  const params = membersOf(method === 'GET' ? query : body);
  return {
    query: typeof params.query === 'string' && params.query !== '' ? params.query : null,
    operationName: typeof params.operationName === 'string' ? params.operationName : null,
    variables: variablesOf(params.variables),
  };
}

/** The kind of the request's operation, from its text alone; null if it cannot be read. */
export function requestedKind(request: Request, graph: Pick<Graph, 'parse'>): OperationTypeNode | null {
  const { query, operationName } = readOperation(request);
  if (query === null) return null;
  try {
    return getOperationAST(graph.parse(query), operationName)?.operation ?? null;
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
}

/** Coordinate of the paid field of a /graphql request, from its text alone; null if it has none or cannot be read. */
export function paidFieldOf(
  { method, body, query }: Request,
  graph: Pick<Graph, 'parse' | 'paidField'>,
): string | null {
  const params = membersOf(method === 'GET' ? query : body);
  if (typeof params.query !== 'string' || params.query === '') return null;
  try {
    return graph.paidField(
      graph.parse(params.query),
      typeof params.operationName === 'string' ? params.operationName : null,
    );
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
}

/**
 * Gives Apollo the document that the graph has parsed and validated, which it would otherwise parse, validate and store again.
 */
export function knownDocument(graph: DocumentReader): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return {
        async didResolveSource(asking) {
          const document = graph.parse(asking.source);
          // Apollo uses the document from this member, and parses the text itself if the member is missing.
          if (graph.validate(document).length === 0) Object.assign(asking, { document });
        },
      };
    },
  };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Finds a repeated member of variables in a URL, where they are the text of an object. */
function repeatedVariable(text: string): Refusal | null {
  try {
    const repeated = repeatedMember(Buffer.from(text), JSON.parse(text));
    return repeated && new Refusal('invalid_request', repeated);
  } catch {
    return null;
  }
}

/** The variables of a request. In a URL they are text. */
function variablesOf(variables: unknown): Readonly<Record<string, unknown>> {
  if (typeof variables !== 'string') return membersOf(variables);
  try {
    return membersOf(JSON.parse(variables));
  } catch {
    return {};
  }
}
