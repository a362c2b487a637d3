import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';
import { ROOT } from '../root.ts';

/* Every root field of the graph, each as an operation that asks for it with no more than it requires. */

type Field = GraphQLField<unknown, unknown>;

const supergraph = buildSchema(await readFile(join(ROOT, 'schema/supergraph.graphql'), 'utf8'), { assumeValid: true });

const fieldsOf = (type: GraphQLObjectType | null | undefined): readonly Field[] =>
  Object.values(type?.getFields() ?? {});

export const queries = fieldsOf(supergraph.getQueryType());
export const mutations = fieldsOf(supergraph.getMutationType());
export const subscriptions = fieldsOf(supergraph.getSubscriptionType());

export const isPaid = ({ astNode }: Field): boolean =>
  astNode?.directives?.some(({ name }) => name.value === 'paid') ?? false;

/** What an operation names, by the names of its arguments and of the members of its inputs. */
type Named = Readonly<Record<string, string | number>>;

/** A literal of that type, as far as it is required. */
function literalOf(type: GraphQLInputType, name: string, named: Named): string {
  if (isNonNullType(type)) return literalOf(type.ofType as GraphQLInputType, name, named);
  if (isListType(type)) return '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{ ${fields.map(field => `${field.name}: ${literalOf(field.type, field.name, named)}`).join(', ')} }`;
  }
  if (named[name] !== undefined) return JSON.stringify(named[name]);
  return (
    { Int: '1', Float: '1', Boolean: 'true', JSON: 'null', JSONObject: '{}', DateTime: '"2026-01-01T00:00:00Z"' }[
      type.name
    ] ?? '"1"'
  );
}

type Kind = 'query' | 'mutation' | 'subscription';

const written = (kind: Kind, { name, args, type }: Field, named: Named, isGiven: (arg: GraphQLArgument) => boolean) => {
  const given = args.filter(isGiven).map(arg => `${arg.name}: ${literalOf(arg.type, arg.name, named)}`);
  const selection = isLeafType(getNamedType(type)) ? '' : ' { __typename }';
  return `${kind} { ${name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection} }`;
};

/** The field alone, of that agent's book where it is of one. */
export const operationOf = (kind: Kind, field: Field, agent_id: number): string =>
  written(kind, field, { agentId: agent_id }, arg => isNonNullType(arg.type));

/** The same, with these values wherever they are asked for by name; the agent is named also where it might be left out. */
export const operationOn = (kind: Kind, field: Field, named: Named & { readonly agentId: number }): string =>
  written(kind, field, named, arg => isNonNullType(arg.type) || arg.name === 'agentId');
