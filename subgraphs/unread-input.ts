import type { GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';
import type { z } from 'zod';
import { validBodyOf } from '../schema/requests/parse.ts';

/*
 * Inputs that no resolver reads are not copied. TypeGraphQL copies an input object by object into instances of its
 * classes, and looks up the classes of all members for each object: once for each message of a chat, and again for each
 * event of its stream.
 */

const READ_BY = 'input_read_by';

/**
 * Marks a field whose resolver reads its `input` only by this schema (`readRequest`). If an endpoint has validated a body by the same
 * schema, that body is used in place of the input.
 */
export const InputReadBy = (schema: z.ZodType) => Extensions({ [READ_BY]: schema });

/** Changes the marked fields of the schema, so that they pass on no input that their resolver does not read. Returns the same schema. */
export function withoutUnreadInputs(schema: GraphQLSchema): GraphQLSchema {
  const subscription = schema.getSubscriptionType();
  for (const type of [schema.getMutationType(), subscription]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const read_by = field.extensions[READ_BY] as z.ZodType | undefined;
      const { resolve } = field;
      if (read_by === undefined || resolve === undefined) continue;
      field.resolve = (root, args, context, info) => {
        // `subscribe` has read the argument of an event already.
        const unread = type === subscription || validBodyOf(read_by, context.valid_body) !== null;
        return resolve(root, unread ? { ...args, input: null } : args, context, info);
      };
    }
  }
  return schema;
}
