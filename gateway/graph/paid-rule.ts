import type { DocumentNode, GraphQLSchema, OperationDefinitionNode, ValidationContext, ValidationRule } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { fieldsIn, fragmentsOf } from './fragments.ts';
import { directiveOf, fieldsOf } from './supergraph.ts';

/** Names of the root fields that cost money, with their price in atomic USDC. */
export type PaidFields = ReadonlyMap<string, string>;

/** Reads `@paid(price:)` off what clients see. @throws where it marks a query: reading is free by construction. */
export function paidFields(schema: GraphQLSchema): PaidFields {
  const paying = [schema.getMutationType()?.name, schema.getSubscriptionType()?.name];
  const prices = fieldsOf(schema).flatMap(({ coordinate, field }) => {
    const paid = directiveOf(field, 'paid');
    if (paid === null) return [];
    if (!paying.includes(coordinate.split('.')[0]))
      throw new Error('@paid may mark fields of Mutation and Subscription only');
    return [[field.name, String(paid.price)] as const];
  });
  return new Map(prices);
}

/** Coordinate of an operation's paid root field, fragments looked into; null where it has none. */
export function paidField(
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
  paid: PaidFields,
): string | null {
  if (operation === 'query') return null;
  const field = fieldsIn(selectionSet, fragmentsOf(document)).find(({ name }) => paid.has(name.value));
  return field ? `${operation === 'mutation' ? 'Mutation' : 'Subscription'}.${field.name.value}` : null;
}

/**
 * One payment buys one field: an operation with a paid field has exactly that root field, once.
 * Otherwise one signature would be asked to pay two effects, or a free field would ride on the answer's replay.
 */
export function paidFieldStandsAlone(paid: PaidFields): ValidationRule {
  return (context: ValidationContext) => ({
    OperationDefinition(operation) {
      const document = context.getDocument();
      if (paidField(document, operation, paid) === null) return;
      if (fieldsIn(operation.selectionSet, fragmentsOf(document)).length === 1) return;
      context.reportError(
        new Refusal('invalid_request', { detail: 'A paid field must be the only root field of its operation.' }),
      );
    },
  });
}
