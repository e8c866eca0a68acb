"""The providers that are asked directly, without litellm."""

from __future__ import annotations

from dia_language.diagnostics import closest

# Provider -> base URL of its OpenAI-compatible interface, and the name of its key. All others go through litellm.
ENDPOINTS: dict[str, tuple[str, str]] = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "together_ai": ("https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
    "fireworks_ai": ("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "ollama": ("http://localhost:11434/v1", "OLLAMA_API_KEY"),
    "hosted_vllm": ("http://localhost:8000/v1", "HOSTED_VLLM_API_KEY"),
}
KEYLESS = frozenset({"ollama", "hosted_vllm"})


def similar_model(model: str) -> str | None:
    """Return the help for a misspelled provider, or None if no provider that is asked directly has a similar name."""
    provider, _, model_id = model.partition("/")
    near = closest(provider, ENDPOINTS)
    return f"did you mean `{near}/{model_id}`?" if near and near != provider else None
