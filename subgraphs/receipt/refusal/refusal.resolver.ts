import 'reflect-metadata';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { refusalUrl } from '../../../schema/links.ts';
import { RefusalNoun } from '../../../schema/refusal.ts';
import { RefusalPath } from '../../../schema/requests/receipt.ts';
import { type Arguments, argumentsType, descriptionOptions, givenMembers } from '../../graph-type.ts';
import { refusalAudit } from '../auditor/audit-documents.ts';
import type { ReceiptContext } from '../context.ts';
import { resultUnlessHalted } from '../log/halt-guard.ts';
import { refusalById, refusalDocument } from './find.ts';
import { SignedRefusal } from './refusal.entity.ts';

const RefusalArguments = argumentsType(RefusalPath);

@Resolver(() => SignedRefusal)
export class RefusalResolver {
  @Query(() => SignedRefusal, {
    nullable: true,
    description: 'A signed refusal by its id. Public. Null if there is none, or on error.',
  })
  async refusal(
    @Args(() => RefusalArguments) asked: Arguments,
    @Ctx() { database }: ReceiptContext,
  ): Promise<SignedRefusal | null> {
    return resultUnlessHalted(database, await refusalById(database, givenMembers(RefusalPath, asked).refusal_id));
  }

  @FieldResolver(() => String, descriptionOptions(RefusalNoun.shape.refusal_url))
  refusalUrl(@Root() refusal: SignedRefusal, @Ctx() { base_url }: ReceiptContext): string {
    return refusalUrl(base_url, refusal.refusalId);
  }

  @FieldResolver(() => GraphQLJSONObject, {
    description: 'The whole public refusal, as GET /refusal/{refusal_id} shows it.',
  })
  document(@Root() refusal: SignedRefusal, @Ctx() { base_url }: ReceiptContext): JsonObject {
    return refusalDocument(refusal, base_url);
  }

  @FieldResolver(() => GraphQLJSONObject, {
    description: 'The refusal with everything an auditor needs, as GET /refusal/{refusal_id}?format=auditor shows it.',
  })
  auditorDocument(@Root() refusal: SignedRefusal, @Ctx() context: ReceiptContext): Promise<JsonObject> {
    return refusalAudit(refusal, context);
  }
}
