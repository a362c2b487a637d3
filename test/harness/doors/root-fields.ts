import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  buildSchema,
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

/* Every root field of the graph, each as an operation that names only what the field requires. */

type Field = GraphQLField<unknown, unknown>;

const supergraph = buildSchema(await readFile(join(ROOT, 'schema/supergraph.graphql'), 'utf8'), { assumeValid: true });

const fieldsOf = (type: GraphQLObjectType | null | undefined): readonly Field[] =>
  Object.values(type?.getFields() ?? {});

export const queries = fieldsOf(supergraph.getQueryType());
export const mutations = fieldsOf(supergraph.getMutationType());
export const subscriptions = fieldsOf(supergraph.getSubscriptionType());

export const isPaid = ({ astNode }: Field): boolean =>
  astNode?.directives?.some(({ name }) => name.value === 'paid') ?? false;

/** Values of an operation by the names of its arguments and of the members of its inputs. */
type FieldArguments = Readonly<Record<string, string | number>>;

/** A literal of that type with required members only. */
function literalOf(type: GraphQLInputType, name: string, named: FieldArguments): string {
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

/**
 * An operation that selects only this field. It passes `agentId` wherever the field takes one, and the values of `named` to required
 * arguments of these names.
 */
export const operationOf = (kind: Kind, field: Field, agent_id: number, named: FieldArguments = {}): string => {
  const { name, args, type } = field;
  const given = args
    .filter(arg => isNonNullType(arg.type) || arg.name === 'agentId')
    .map(arg => `${arg.name}: ${literalOf(arg.type, arg.name, { ...named, agentId: agent_id })}`);
  const selection = isLeafType(getNamedType(type)) ? '' : ' { __typename }';
  return `${kind} { ${name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection} }`;
};
