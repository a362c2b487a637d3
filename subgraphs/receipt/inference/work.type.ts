import { Field, InputType, Int } from 'type-graphql';

@InputType({ description: 'What is asked of this service, beside what is asked of a model.' })
class SvcInput {
  @Field(() => Boolean, { nullable: true, description: 'False: fail rather than ask another hub or another model.' })
  failover?: boolean | null;
}

/** What every paid request may say; each kind of it extends this. */
@InputType()
export abstract class IntentInput {
  @Field(() => String, { nullable: true, description: 'Groups attempts under one treasury intent bill.' })
  intentId?: string | null;
  @Field(() => Int, { nullable: true, description: 'Zero-based attempt within intentId.' })
  attemptIndex?: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'The task of the row that this call follows from, on the book that it lands on; else 403.',
  })
  parentRef?: string | null;
}

/** The same of a request for a model's work. */
@InputType()
export abstract class WorkInput extends IntentInput {
  @Field(() => String, {
    defaultValue: 'svc/auto',
    description: 'A model of the catalogue; `svc/auto` lets the service choose.',
  })
  model!: string;
  @Field(() => SvcInput, { nullable: true, description: 'What is asked of the service itself.' })
  svc?: SvcInput | null;
}
