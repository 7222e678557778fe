import { SystemClock } from '../../core/system-clock.ts';
import type { Logger } from '../../core/log.ts';
import type { Engine } from '../../engine/engine.ts';
import { createOnnxEngine } from '../../engine/onnx/index.ts';
import { resolveBroker, type ResolvedBroker } from '../../transport/broker.ts';
import type { BusMeter } from './bus-meter.ts';
import { Gate } from './gate.ts';
import type { Pair } from './pairs.ts';
import { PausableClock } from './pausable-clock.ts';
import { SharedEngine } from './shared-engine.ts';
import type { StepRecord } from './step-record.ts';

export interface LabOptions {
  pair: Pair;
  maxNumSeqs: number;
  maxModelLenTokens: number;
  /** Threads of the engines that run alone: all cores. The pair that runs at the same time has one each. */
  numCores: number;
  broker: 'embedded' | 'nats-server';
  logger: Logger;
}

/** What a lane needs besides its driver. */
export interface Bench {
  gate: Gate;
  clock: PausableClock;
  steps: [StepRecord[], StepRecord[]];
  /**
   * A share of a model's engine. `alone`: nothing else computes while it does, so it may use all cores; `together`: one
   * core, the other is the other model's.
   */
  engine(model: number, cores: 'alone' | 'together', meter?: BusMeter): Engine;
}

/** Loaded engines and a broker, shared by all modes of one pair. */
export class Lab {
  readonly pair: Pair;
  readonly broker: ResolvedBroker;
  private readonly engines: { together: SharedEngine[]; alone: SharedEngine[] };

  private constructor(pair: Pair, broker: ResolvedBroker, engines: Lab['engines']) {
    this.pair = pair;
    this.broker = broker;
    this.engines = engines;
  }

  /** @throws Error when the broker asked for is not there, or an engine does not load */
  static async open(options: LabOptions): Promise<Lab> {
    const broker = await resolveBroker({
      clock: new SystemClock(),
      preferEmbedded: options.broker === 'embedded',
    });
    if (broker.kind !== options.broker) {
      await broker.stop();
      throw new Error(`no ${options.broker} to be had, found ${broker.kind}`);
    }
    const together = await startEngines(options, 1);
    const alone = options.numCores > 1 ? await startEngines(options, options.numCores) : together;
    return new Lab(options.pair, broker, { together, alone });
  }

  get maxNumSeqs(): number {
    return Math.min(...this.engines.together.map(({ info }) => info.maxNumSeqs));
  }

  /** Facts of the engines for the page. */
  get engineNotes(): string[] {
    return this.engines.together.map(({ info }) => info.notes.join('; '));
  }

  bench(): Bench {
    const gate = new Gate();
    const steps: Bench['steps'] = [[], []];
    const engine: Bench['engine'] = (model, cores, meter) => {
      const shared = this.engines[cores][model - 1];
      if (shared === undefined) throw new Error(`no model ${model}`);
      return shared.share({ gate, meter, onStep: (record) => steps[model - 1]?.push(record) });
    };
    return { gate, clock: new PausableClock(new SystemClock()), steps, engine };
  }

  async close(): Promise<void> {
    const { together, alone } = this.engines;
    for (const engine of new Set([...together, ...alone])) await engine.close();
    await this.broker.stop();
  }
}

async function startEngines(options: LabOptions, numThreads: number): Promise<SharedEngine[]> {
  const { pair, maxNumSeqs, maxModelLenTokens, logger } = options;
  const engines: SharedEngine[] = [];
  for (const [index, { dir }] of pair.models.entries()) {
    const engine = createOnnxEngine(
      {
        modelDir: dir,
        modelId: index + 1,
        loadFormat: pair.loadFormat,
        quantization: pair.quantization,
        numThreads,
        maxNumSeqs,
        maxModelLenTokens,
      },
      { logger, clock: new SystemClock() },
    );
    engines.push(await SharedEngine.start(engine));
  }
  return engines;
}
